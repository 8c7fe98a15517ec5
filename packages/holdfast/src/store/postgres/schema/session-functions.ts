/**
 * Creates a session with its first records. Returns null, or what is taken and by which session: the id is checked first,
 * then the handle, then the key, which is unique within its tenant. The parent stays locked, so that no purge removes the records that a fork shares.
 */
export const createSession = `
create or replace function @create_session(made jsonb) returns jsonb language plpgsql as $body$
declare
  entry jsonb := made->'entry';
  its_base bigint := (made->>'base')::bigint;
  taken record;
  its_parent bigint;
  its_sid bigint;
  its_tenant text := coalesce(made->>'tenant',
    (select tenant from @session where id = coalesce(made->>'parent', made->>'startedFor')));
begin
  select id, case when id = made->>'session' then 'id' when handle = made->>'handle' then 'handle' else 'key' end as what
    into taken from @session
    where id = made->>'session' or handle = made->>'handle'
      or key = made->>'key' and coalesce(tenant, '') = coalesce(its_tenant, '')
    order by id = made->>'session' desc, handle = made->>'handle' desc limit 1;
  if found then return jsonb_build_object('code', taken.what, 'session', taken.id); end if;
  if made->>'parent' is not null then
    select sid into its_parent from @session where id = made->>'parent' and head >= its_base for key share;
    if not found then return jsonb_build_object('code', 'parent'); end if;
  end if;
  insert into @session (id, handle, key, parent, base, head, epoch, owner, started_for, meta, workspace, active_at, spoken,
    busy, pinned, tenant)
  values (made->>'session', made->>'handle', made->>'key', its_parent, its_base,
    its_base + jsonb_array_length(made->'records'), 1, made->>'owner', made->>'startedFor', entry->>0, entry->>1,
    (entry->>2)::bigint, (entry->>3)::boolean, (entry->>4)::boolean, (entry->>5)::smallint, its_tenant)
  returning sid into its_sid;
  perform @insert_records(its_sid, made->'records');
  if made ? 'blobs' then perform @use_blobs(its_sid, its_base + 1, made->'blobs'); end if;
  return null;
end $body$;
`

/**
 * Removes the rows of a session after a seq. The queue of the word index comes first: a node that is indexing has the same
 * rows locked, and its words are visible once this goes on.
 */
const removeRows = `
create function @remove_records(its_sid bigint, after bigint) returns void language sql as $body$
  delete from @unindexed where sid = its_sid and pos in (select pos from @record where sid = its_sid and seq > after);
  delete from @search where sid = its_sid and seq > after;
  delete from @record where sid = its_sid and seq > after;
  delete from @command_hash where sid = its_sid and seq > after;
  delete from @blob_use where sid = its_sid and seq > after;
  delete from @draft where sid = its_sid;
  delete from @snapshot where sid = its_sid;
$body$;
`

/**
 * Removes a session, but keeps the records that forks share. Without forks it removes all of it, and then its purged
 * parent if it was the last fork. A hidden row has names that no session has. The caller has locked the session.
 */
const shrinkSession = `
create function @shrink_session(its_sid bigint) returns void language plpgsql as $body$
declare
  shared bigint;
  its_parent bigint;
begin
  select max(base) into shared from @session where parent = its_sid;
  if shared is not null then
    perform @remove_records(its_sid, shared);
    update @session set purged_at = extract(epoch from clock_timestamp()) * 1000, head = shared, spoken = false,
      busy = false, trashed_at = null, meta = '', key = null, handle = '-' || sid, started_for = null
    where sid = its_sid;
    return;
  end if;
  perform @remove_records(its_sid, 0);
  delete from @session where sid = its_sid returning parent into its_parent;
  perform 1 from @session where sid = its_parent and purged_at is not null for update;
  if found then perform @shrink_session(its_parent); end if;
end $body$;

create function @purge_session(its_id text, since bigint) returns jsonb language plpgsql as $body$
declare
  its record;
begin
  select sid, owner, trashed_at into its from @session where id = its_id and purged_at is null for update;
  if not found then return jsonb_build_object('code', 'session_not_found'); end if;
  if since is not null and its.trashed_at is distinct from since then
    return jsonb_build_object('code', 'session_not_trashed', 'trashedAt', its.trashed_at);
  end if;
  if its.owner is not null then return jsonb_build_object('code', 'session_locked', 'owner', its.owner); end if;
  perform @shrink_session(its.sid);
  return null;
end $body$;
`

/** Removes empty sessions that no fork shares. Each is locked before its forks are looked for. */
const removeUnspoken = `
create function @remove_unspoken(owners jsonb) returns bigint language plpgsql as $body$
declare
  its_sid bigint;
  removed bigint := 0;
begin
  for its_sid in select sid from @session
    where not spoken and purged_at is null and (owner is null or owner in (select jsonb_array_elements_text(owners)))
    order by sid for update
  loop
    if not exists (select 1 from @session where parent = its_sid) then
      perform @remove_records(its_sid, 0);
      delete from @session where sid = its_sid;
      removed := removed + 1;
    end if;
  end loop;
  return removed;
end $body$;
`

export const sessionFunctions = `${removeRows}${shrinkSession}${removeUnspoken}`
