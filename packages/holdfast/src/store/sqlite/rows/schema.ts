import type { DatabaseSync } from 'node:sqlite'

/** 'hold' in ASCII: identifies a store file. */
export const applicationId = 0x686f6c64

/** The version of the tables. `upgrades` converts every earlier version. */
export const schemaVersion = 7

/** How far each follower of the log has read, and counts of removals. Some stores of version 1 lack this table. */
const cursorTable = `
create table if not exists cursor (name text primary key, pos integer not null) strict, without rowid;
`
export const removalsName = 'removals'
/** The name under which changes of the trash are counted. */
export const trashingsName = 'trashings'

/** The indexes of lists and removals, since version 2. Pinned sessions are listed first; the trash has its own order. */
const listIndexes = `
drop index if exists session_list;
drop index if exists session_all;
create index session_list on session(workspace, pinned, active_at)
  where spoken=1 and trashed_at is null and purged_at is null;
create index session_all on session(pinned, active_at) where spoken=1 and trashed_at is null and purged_at is null;
create index session_trash on session(trashed_at) where trashed_at is not null and purged_at is null;
create index session_purged on session(purged_at) where purged_at is not null;
create index blob_use_session on blob_use(sid, seq);
`

/** Version 1 marked a blob as used by the last record of a batch, but a fork may share only an earlier part. */
export const markBlobsOfVersion1 = `
insert or ignore into blob_use (hash, sid, seq)
  select hash, sid, base + 1 from blob_use join session using (sid);
`

/**
 * Since version 2 a body is text or compressed bytes. Changes only the declaration of the column, as described for ALTER
 * TABLE; later statements make every connection reload it. Needs a connection that is not defensive.
 */
const allowCompressedBodies = `
pragma writable_schema = on;
update sqlite_schema set sql = replace(sql, 'body text not null', 'body any not null')
  where type = 'table' and name = 'record';
pragma writable_schema = reset;
`

export const searchCursorName = 'search'

/**
 * The word index, since version 2; a rowid is the position of its record. The words are folded and split already
 * (words.ts), so the tokenizer only splits at spaces: every version of SQLite, and a scan without an index, see the same
 * words. Removing a record removes its words in the same transaction. `search_moved` has the workspaces that sessions had
 * when they were indexed.
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

/** The session that another one was started for, since version 3; not for forks. A store of version 2 may have it. */
const startedFor = `
create table if not exists started_for (sid integer primary key, parent text not null) strict;
create index if not exists started_for_parent on started_for(parent);
create trigger if not exists started_for_ends after delete on session
  begin delete from started_for where sid = old.sid; end;
`
/** Fills the table from the session rows. */
export const fillStartedFor = `
insert or ignore into started_for (sid, parent)
  select sid, json_extract(meta, '$.parent') from session
  where parent is null and json_valid(meta) and json_extract(meta, '$.parent') is not null;
`

/** The hashes of commands by the first record of each, since version 4. A record without one is compared by its type. */
const commandHashes = `
create table if not exists command_hash (sid integer, seq integer, hash text not null, primary key (sid, seq)) strict, without rowid;
create trigger if not exists command_hash_ends after delete on session begin delete from command_hash where sid = old.sid; end;
`

/** The tokens that let clients in, since version 5: only the hash of each. The session is an id, which may be in memory only. */
const tokenTable = `
create table if not exists token (
  id text not null unique, hash text not null, name text not null, role text not null, session text,
  created_at text not null, created_by text, expires_at text, last_used_at text
) strict;
`

/**
 * What was spent by day, payer and workspace, since version 6, and the caps. Each charge is added to four rows, where `*`
 * stands for all, so that a sum is one row. The day is in UTC. A cost is that of the calls with a price.
 */
const spendingTables = `
create table if not exists spending (
  day text, payer text, workspace text, calls integer not null, unpriced integer not null, tokens integer not null,
  cost real not null, primary key (day, payer, workspace)
) strict, without rowid;
create table if not exists cap (
  scope text primary key, token text, workspace text, max_cost real, max_tokens integer
) strict, without rowid;
`

/** Whether a call of the session waits for an approval: the encoded `Meta` has a count then. In a text of it the quotes would be escaped. */
export const isWaiting = `instr(meta, '"waiting":') > 0`

/** The index of the sessions that wait for an approval, since version 7. Only a few do, so that most appends leave it alone. */
const waitingIndex = `
create index if not exists session_waiting on session(pinned, active_at)
  where ${isWaiting} and spoken=1 and trashed_at is null and purged_at is null;
`

/**
 * `record.pos` makes every insert an append to one tree, whatever the session. `active_at` changes with a prompt and not
 * with each record, so an ordinary append touches no index of `session`. An empty `args_hash` trusts any arguments.
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
${cursorTable}${listIndexes}${searchTables}${startedFor}${commandHashes}${tokenTable}${spendingTables}${waitingIndex}`

export type Upgrade = { readonly to: number; readonly statements: string }

/** The upgrades from earlier versions, in order. All run in one transaction. */
export const upgrades: readonly Upgrade[] = [
  { to: 2, statements: `${allowCompressedBodies}${cursorTable}${markBlobsOfVersion1}${listIndexes}${searchTables}` },
  { to: 3, statements: `${startedFor}${fillStartedFor}` },
  { to: 4, statements: commandHashes },
  { to: 5, statements: tokenTable },
  { to: 6, statements: spendingTables },
  { to: 7, statements: waitingIndex },
]

/** Returns whether the database has a table, which a store of an earlier version may lack. */
export const hasTable = (database: DatabaseSync, table: string): boolean =>
  database.prepare(`select 1 from sqlite_schema where type = 'table' and name = ?`).get(table) !== undefined
