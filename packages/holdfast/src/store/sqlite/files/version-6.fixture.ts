import { DatabaseSync } from 'node:sqlite'

/**
 * A store exactly as version 6 wrote it: a session, its fork, a session that was started for it and has a compressed
 * record, a blob, a token, and a cap. Do not edit.
 */
const version6 = `
pragma auto_vacuum = 0;
pragma application_id = 1752132708;
pragma user_version = 6;
begin;
create table session (
  sid integer primary key autoincrement, id text not null unique, handle text not null unique, key text unique,
  parent integer references session(sid), base integer not null default 0, head integer not null,
  epoch integer not null default 0, owner text, busy integer not null default 0,
  workspace text not null, active_at integer not null, spoken integer not null default 0,
  pinned integer not null default 0, meta text not null, trashed_at integer, purged_at integer
) strict;
create index session_busy on session(owner) where busy=1;
create index session_unspoken on session(owner) where spoken=0;
create index session_children on session(parent, base) where parent is not null;
create table record (
  pos integer primary key, sid integer not null references session(sid), seq integer not null, at text not null,
  type text not null, v integer not null, client text, command_id text, ref integer, crc integer not null,
  body any not null, unique (sid, seq)
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
create table if not exists cursor (name text primary key, pos integer not null) strict, without rowid;
drop index if exists session_list;
drop index if exists session_all;
create index session_list on session(workspace, pinned, active_at)
  where spoken=1 and trashed_at is null and purged_at is null;
create index session_all on session(pinned, active_at) where spoken=1 and trashed_at is null and purged_at is null;
create index session_trash on session(trashed_at) where trashed_at is not null and purged_at is null;
create index session_purged on session(purged_at) where purged_at is not null;
create index blob_use_session on blob_use(sid, seq);
create virtual table search using fts5(
  text, parts, content='', contentless_delete=1, tokenize="ascii tokenchars '_:'"
);
create trigger search_forgets after delete on record begin delete from search where rowid = old.pos; end;
create table search_moved (sid integer, workspace text, primary key (sid, workspace)) strict, without rowid;
create trigger search_moves after update of workspace on session when old.workspace <> new.workspace
  begin insert or ignore into search_moved (sid, workspace) values (old.sid, old.workspace); end;
create trigger search_unmoves after delete on session begin delete from search_moved where sid = old.sid; end;
create table if not exists started_for (sid integer primary key, parent text not null) strict;
create index if not exists started_for_parent on started_for(parent);
create trigger if not exists started_for_ends after delete on session
  begin delete from started_for where sid = old.sid; end;
create table if not exists command_hash (sid integer, seq integer, hash text not null, primary key (sid, seq)) strict, without rowid;
create trigger if not exists command_hash_ends after delete on session begin delete from command_hash where sid = old.sid; end;
create table if not exists token (
  id text not null unique, hash text not null, name text not null, role text not null, session text,
  created_at text not null, created_by text, expires_at text, last_used_at text
) strict;
create table if not exists spending (
  day text, payer text, workspace text, calls integer not null, unpriced integer not null, tokens integer not null,
  cost real not null, primary key (day, payer, workspace)
) strict, without rowid;
create table if not exists cap (
  scope text primary key, token text, workspace text, max_cost real, max_tokens integer
) strict, without rowid;
insert into session (id, handle, base, head, epoch, workspace, active_at, spoken, meta) values
  ('ses_00000000000000000000000001', 'calm-harbor-1', 0, 2, 2, '/w', 1, 1,
   '{"id":"ses_00000000000000000000000001","handle":"calm-harbor-1","title":"Lights","workspace":"/w","preview":"","recentText":"","pinned":false,"lastMessageAt":"2025-11-02T09:30:00.000Z"}');
insert into session (id, handle, parent, base, head, epoch, workspace, active_at, spoken, meta) values
  ('ses_00000000000000000000000002', 'calm-harbor-2', 1, 1, 2, 2, '/w', 2, 1,
   '{"id":"ses_00000000000000000000000002","handle":"calm-harbor-2","title":"Fork","workspace":"/w","preview":"","recentText":"","pinned":false,"lastMessageAt":"2025-11-02T09:30:00.000Z","parent":"ses_00000000000000000000000001"}');
insert into session (id, handle, base, head, epoch, workspace, active_at, spoken, meta) values
  ('ses_00000000000000000000000003', 'calm-harbor-3', 0, 1, 2, '/w', 3, 1,
   '{"id":"ses_00000000000000000000000003","handle":"calm-harbor-3","title":"Tides","workspace":"/w","preview":"","recentText":"","pinned":false,"lastMessageAt":"2025-11-02T09:30:00.000Z","parent":"ses_00000000000000000000000001"}');
insert into record (sid, seq, at, type, v, crc, body) values
  (1, 1, '2025-11-02T09:30:00.000Z', 'user.said', 1, 2022566352,
   '{"type":"user.said","turn":0,"content":[{"type":"text","text":"Where is the lighthouse?"}]}'),
  (1, 2, '2025-11-02T09:30:00.000Z', 'text.said', 1, 1494720793,
   '{"type":"text.said","turn":0,"step":1,"text":"North of the harbor.","provider":"demo"}'),
  (2, 2, '2025-11-02T09:30:00.000Z', 'text.said', 1, 3353827903,
   '{"type":"text.said","turn":0,"step":1,"text":"A fork, south of it.","provider":"demo"}');
insert into record (sid, seq, at, type, v, crc, body) values
  (3, 1, '2025-11-02T09:30:00.000Z', 'text.said', 1, 3020333414,
   x'28b52ffd608506c50200c2c5121790a76d680d1f5f9aa90134952967fffc654c625266f6100923f3345a3db58054f2d94641d288bda861eda8ad1b54eca96b1f088cbe003a7d970f803e8ab03ea79235f6f035faa958230202000a59a8ff1c04f504');
insert into command_hash (sid, seq, hash) values (1, 1, '${'cd'.repeat(32)}');
insert into started_for (sid, parent) values (3, 'ses_00000000000000000000000001');
insert into blob_use (hash, sid, seq) values ('${'ab'.repeat(32)}', 1, 2);
insert into token (id, hash, name, role, created_at)
  values ('tok_0000000000000001', '${'ef'.repeat(32)}', 'phone', 'driver', '2026-01-01T00:00:00.000Z');
insert into cap (scope, max_cost) values ('all', 5);
commit;
pragma journal_mode = wal;
`

export function writeVersion6(path: string): void {
  const database = new DatabaseSync(path)
  database.exec(version6)
  database.close()
}
