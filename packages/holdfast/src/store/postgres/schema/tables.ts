/** The version of the tables. `migrations` creates them and converts every earlier version. */
export const schemaVersion = 6

/**
 * `@name` is a name in the schema of the store. Names and paths sort by their bytes, whatever the language of the
 * database. Half of a page of sessions stays free, so that an append changes a row without touching an index.
 */
export const tables = `
create table @session (
  sid bigint generated always as identity primary key, id text collate "C" not null unique,
  handle text collate "C" not null unique, key text collate "C" unique, parent bigint, base bigint not null,
  head bigint not null, epoch bigint not null, owner text collate "C", busy boolean not null,
  workspace text collate "C" not null, active_at bigint not null, spoken boolean not null, pinned smallint not null,
  meta text not null, started_for text collate "C", trashed_at bigint, purged_at bigint
) with (fillfactor = 50);
create index session_list on @session (workspace, pinned, active_at, sid)
  where spoken and trashed_at is null and purged_at is null;
create index session_all on @session (pinned, active_at, sid) where spoken and trashed_at is null and purged_at is null;
create index session_trash on @session (trashed_at, sid) where trashed_at is not null and purged_at is null;
create index session_busy on @session (owner) where busy;
create index session_unspoken on @session (owner) where not spoken;
create index session_children on @session (parent, base) where parent is not null;
create index session_started_for on @session (started_for) where started_for is not null;

create table @record (
  pos bigint generated always as identity primary key, sid bigint not null, seq bigint not null,
  at text collate "C" not null, type text collate "C" not null, v integer not null, client text collate "C",
  command_id text collate "C", ref bigint, crc bigint not null, body text not null, unique (sid, seq)
);
create unique index record_command on @record (sid, command_id) where command_id is not null;
create index record_ref on @record (sid, ref) where ref is not null;
create table @command_hash (sid bigint, seq bigint, hash text not null, primary key (sid, seq));

create table @draft (sid bigint primary key, epoch bigint not null, step bigint not null, parts text not null);
create table @snapshot (sid bigint primary key, seq bigint not null, fold bigint not null, crc bigint not null, body text not null);
create table @blob_use (hash text collate "C", sid bigint, seq bigint, primary key (hash, sid, seq));
create index blob_use_session on @blob_use (sid, seq);
create table @node (id text collate "C" primary key, address text not null, started_at text not null);
create table @trust (
  workspace text collate "C", tool text collate "C", args_hash text collate "C" default '',
  primary key (workspace, tool, args_hash)
);
create table @token (
  id text collate "C" primary key, hash text not null, name text not null, role text not null, session text,
  created_at text collate "C" not null, created_by text, expires_at text, last_used_at text,
  added bigint generated always as identity
);
create table @probe (id bigint generated always as identity primary key, content text not null);

create table @spending (
  day text collate "C", payer text collate "C", workspace text collate "C", calls bigint not null,
  unpriced bigint not null, tokens bigint not null, cost double precision not null,
  primary key (day, payer, workspace)
);
create table @cap (
  scope text collate "C" primary key, token text, workspace text, max_cost double precision, max_tokens bigint
);
`

/**
 * The word index. A search row belongs to a record; its words are split already, so PostgreSQL splits nothing. Until a
 * record is indexed, its position is in `unindexed`: that works in whatever order the transactions of nodes commit.
 */
export const searchTables = `
create table @search (
  pos bigint primary key, sid bigint not null, seq bigint not null, at_ms bigint not null,
  role text collate "C" not null, tool text collate "C", words tsvector not null
);
create index search_words on @search using gin (words);
create index search_session on @search (sid, seq);
create table @unindexed (pos bigint primary key, sid bigint not null);
create index unindexed_session on @unindexed (sid);
`

/**
 * Blobs by their hash. Their bytes are in chunks of a content, which is written before its hash is known. A content
 * without a blob is an upload that runs or was cut off. `at` is when the blob was put, `aside_at` when a sweep set it aside.
 */
export const blobTables = `
create table @content (id bigint generated always as identity primary key, at bigint not null);
create table @chunk (
  content bigint references @content on delete cascade, number integer, bytes bytea not null,
  primary key (content, number)
);
alter table @chunk alter column bytes set storage external;
create table @blob (
  hash text collate "C" primary key, content bigint not null unique references @content, bytes bigint not null,
  at bigint not null, aside_at bigint
);
create index blob_aside on @blob (hash) where aside_at is not null;
`
