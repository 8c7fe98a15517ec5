/** 'hold' in ASCII: what `file` and our own probe recognise a store by. */
export const applicationId = 0x686f6c64

/** The version of the tables; `upgrades` leads to it from each one before. */
export const schemaVersion = 3

/**
 * How far each follower of the log has read. A removal lowers them, as its positions are given again, and is counted
 * under a name of its own. Not every store of version 1 has it.
 */
export const cursorTable = `
create table if not exists cursor (name text primary key, pos integer not null) strict, without rowid;
`
export const removalsName = 'removals'
/** How often the trash changed, counted beside the cursors too. */
export const trashingsName = 'trashings'

/** What lists and removals walk along, since version 2. Pinned sessions are listed first; the trash has an order of its own. */
export const listIndexes = `
drop index if exists session_list;
drop index if exists session_all;
create index session_list on session(workspace, pinned, active_at)
  where spoken=1 and trashed_at is null and purged_at is null;
create index session_all on session(pinned, active_at) where spoken=1 and trashed_at is null and purged_at is null;
create index session_trash on session(trashed_at) where trashed_at is not null and purged_at is null;
create index session_purged on session(purged_at) where purged_at is not null;
create index blob_use_session on blob_use(sid, seq);
`

/**
 * Version 1 wrote down a batch's last seq as the place a blob is used at: what a fork shares may end before it. As used
 * from the session's first record on, it is kept for as long as anything of the session is.
 */
export const keepBlobsOfVersion1 = `
insert or ignore into blob_use (hash, sid, seq)
  select hash, sid, base + 1 from blob_use join session using (sid);
`

/**
 * Since version 2 a body is text or, packed, bytes (packed-body.ts). Nothing that is stored changes, so only the
 * declaration does, in the way SQLite's own pages on ALTER TABLE describe; what follows in the same upgrade makes every
 * connection read the declaration again. Needs a connection that is not defensive.
 */
export const takePackedBodies = `
pragma writable_schema = on;
update sqlite_schema set sql = replace(sql, 'body text not null', 'body any not null')
  where type = 'table' and name = 'record';
pragma writable_schema = reset;
`

export const searchCursorName = 'search'

/**
 * The words of the log, since version 2; a row's number is its record's position. They come folded and split (words.ts),
 * so the tokenizer has only to cut at spaces: every version of SQLite, and a scan without one, see the same words. Whoever
 * removes a record removes it here, in the same transaction. `search_moved` has where sessions were when their words
 * were taken in.
 */
export const searchTables = `
create virtual table search using fts5(
  text, parts, content='', contentless_delete=1, tokenize="ascii tokenchars '_:'"
);
create trigger search_forgets after delete on record begin delete from search where rowid = old.pos; end;
create table search_moved (sid integer, workspace text, primary key (sid, workspace)) strict, without rowid;
create trigger search_moves after update of workspace on session when old.workspace <> new.workspace
  begin insert or ignore into search_moved (sid, workspace) values (old.sid, old.workspace); end;
create trigger search_unmoves after delete on session begin delete from search_moved where sid = old.sid; end;
`

/**
 * Which sessions were started for which, since version 3; a fork was not. Written once, so no append touches it. A store
 * of version 2 may have it already.
 */
const startedFor = `
create table if not exists started_for (sid integer primary key, parent text not null) strict;
create index if not exists started_for_parent on started_for(parent);
create trigger if not exists started_for_ends after delete on session
  begin delete from started_for where sid = old.sid; end;
`
/** The same from the rows of the sessions, where nobody wrote it down. */
export const findStartedFor = `
insert or ignore into started_for (sid, parent)
  select sid, json_extract(meta, '$.parent') from session
  where parent is null and json_valid(meta) and json_extract(meta, '$.parent') is not null;
`

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
${cursorTable}${listIndexes}${searchTables}${startedFor}`

export type Upgrade = { readonly to: number; readonly statements: string }

/** How a store of an earlier version becomes one of this: in order, each in the same transaction as the others. */
export const upgrades: readonly Upgrade[] = [
  { to: 2, statements: `${takePackedBodies}${cursorTable}${keepBlobsOfVersion1}${listIndexes}${searchTables}` },
  { to: 3, statements: `${startedFor}${findStartedFor}` },
]
