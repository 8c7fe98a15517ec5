/** 'hold' in ASCII: what `file` and our own probe recognise a store by. */
export const applicationId = 0x686f6c64

/**
 * The version of the tables. A migration to a greater one must end with a checkpoint: whoever looks at a file before
 * opening it sees the main file only, never its write-ahead log.
 */
export const schemaVersion = 1

/**
 * How far each follower of the log has read. A removal lowers them, as its positions are given again, and is counted
 * under a name of its own. Stores made before it had it get it when they are opened.
 */
export const cursorTable = `
create table if not exists cursor (name text primary key, pos integer not null) strict, without rowid;
`
export const removalsName = 'removals'

/**
 * `record.pos` keeps inserts at one end of one tree, however many sessions write. `active_at` moves when someone speaks,
 * not with each record, so that an ordinary append touches no index of `session`. An empty `args_hash` trusts any.
 */
export const tables = `
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
${cursorTable}`
