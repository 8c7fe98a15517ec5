import { DatabaseSync } from 'node:sqlite'

/** A store exactly as version 1 wrote it: two sessions, the second a fork of the first, and a blob. Do not edit. */
const version1 = `
pragma auto_vacuum = 0;
pragma application_id = 1752132708;
pragma user_version = 1;
begin;
create table session (
  sid integer primary key autoincrement, id text not null unique, handle text not null unique, key text unique,
  parent integer references session(sid), base integer not null default 0, head integer not null,
  epoch integer not null default 0, owner text, busy integer not null default 0,
  workspace text not null, active_at integer not null, spoken integer not null default 0,
  pinned integer not null default 0, meta text not null, trashed_at integer, purged_at integer
) strict;
create index session_list on session(workspace, active_at) where spoken=1 and trashed_at is null and purged_at is null;
create index session_all on session(active_at) where spoken=1 and trashed_at is null and purged_at is null;
create index session_busy on session(owner) where busy=1;
create index session_unspoken on session(owner) where spoken=0;
create index session_children on session(parent, base) where parent is not null;
create table record (
  pos integer primary key, sid integer not null references session(sid), seq integer not null, at text not null,
  type text not null, v integer not null, client text, command_id text, ref integer, crc integer not null,
  body text not null, unique (sid, seq)
) strict;
create unique index record_command on record(sid, command_id) where command_id is not null;
create index record_ref on record(sid, ref) where ref is not null;
create table draft (sid integer primary key, epoch integer not null, step integer not null, parts text not null) strict;
create table snapshot (
  sid integer primary key, seq integer not null, fold integer not null, crc integer not null, body text not null
) strict;
create table blob_use (hash text, sid integer, seq integer, primary key (hash, sid, seq)) strict, without rowid;
create table node (id text primary key, address text not null, started_at text not null) strict;
create table trust (
  workspace text, tool text, args_hash text not null default '', primary key (workspace, tool, args_hash)
) strict, without rowid;
insert into session (id, handle, base, head, epoch, workspace, active_at, spoken, meta) values
  ('ses_00000000000000000000000001', 'calm-harbor-1', 0, 2, 2, '/w', 1, 1,
   '{"id":"ses_00000000000000000000000001","handle":"calm-harbor-1","title":"Lights","workspace":"/w","preview":"","recentText":"","pinned":false,"lastMessageAt":"2025-11-02T09:30:00.000Z"}');
insert into session (id, handle, parent, base, head, epoch, workspace, active_at, spoken, meta) values
  ('ses_00000000000000000000000002', 'calm-harbor-2', 1, 1, 2, 2, '/w', 2, 1,
   '{"id":"ses_00000000000000000000000002","handle":"calm-harbor-2","title":"Fork","workspace":"/w","preview":"","recentText":"","pinned":false,"lastMessageAt":"2025-11-02T09:30:00.000Z"}');
insert into record (sid, seq, at, type, v, crc, body) values
  (1, 1, '2025-11-02T09:30:00.000Z', 'user.said', 1, 2022566352,
   '{"type":"user.said","turn":0,"content":[{"type":"text","text":"Where is the lighthouse?"}]}'),
  (1, 2, '2025-11-02T09:30:00.000Z', 'text.said', 1, 1494720793,
   '{"type":"text.said","turn":0,"step":1,"text":"North of the harbor.","provider":"demo"}'),
  (2, 2, '2025-11-02T09:30:00.000Z', 'text.said', 1, 3353827903,
   '{"type":"text.said","turn":0,"step":1,"text":"A fork, south of it.","provider":"demo"}');
insert into blob_use (hash, sid, seq) values ('${'ab'.repeat(32)}', 1, 2);
commit;
pragma journal_mode = wal;
`

export function writeVersion1(path: string): void {
  const database = new DatabaseSync(path)
  database.exec(version1)
  database.close()
}
