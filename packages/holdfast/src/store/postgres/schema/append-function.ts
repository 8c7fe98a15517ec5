import { allRows } from '../../ledger.ts'

/**
 * Appends a list of batches in one transaction and returns an answer for each: null, or why it is refused. Several sessions
 * are locked first, in the order of their sids, so that two groups never wait for each other.
 *
 * A batch is accepted by one update that compares epoch and head. Statements are what an append costs here, so only a refused
 * batch is looked at again, to say why. `workspace` is set only if it changes, because that fires a trigger.
 *
 * `is_retry`: an earlier attempt may have been committed, and its answer was lost. A batch whose records are there, with
 * the same checksums and at the same epoch, was committed by it. The lock waits for an attempt that still runs.
 */
const appendFunction = `
create or replace function @append(changes jsonb, is_retry boolean) returns jsonb language plpgsql as $body$
declare
  change jsonb;
  entry jsonb;
  records jsonb;
  answers jsonb[] := '{}';
  charges jsonb := '[]';
  its_sid bigint;
  its_workspace text;
  is_of_tenant boolean;
  after bigint;
  is_seen boolean;
  r jsonb;
begin
  if is_retry or jsonb_array_length(changes) > 1 then
    perform 1 from @session where id in (select c->>'session' from jsonb_array_elements(changes) c)
      order by sid for no key update;
  end if;
  for i in 0 .. jsonb_array_length(changes) - 1 loop
    change := changes->i;
    if is_retry and @is_committed(change) then
      answers := answers || null::jsonb;
      continue;
    end if;
    entry := change->'entry';
    records := change->'records';
    after := (change->>'after')::bigint;
    is_seen := (change->>'hasCommand')::boolean and @find_command(change) is not null;
    its_sid := null;
    if not is_seen then
      update @session set head = after + jsonb_array_length(records), meta = entry->>0, active_at = (entry->>2)::bigint,
        spoken = (entry->>3)::boolean, busy = (entry->>4)::boolean, pinned = (entry->>5)::smallint
      where id = change->>'session' and epoch = (change->>'epoch')::bigint and head = after
      returning sid, workspace, tenant is not null into its_sid, its_workspace, is_of_tenant;
    end if;
    if its_sid is null then
      answers := answers || @why_refused(change);
      continue;
    end if;
    for j in 0 .. jsonb_array_length(records) - 1 loop
      r := records->j;
      if (r->>9)::boolean then
        with made as (
          insert into @record (sid, seq, at, type, v, client, command_id, ref, crc, body)
          values (its_sid, (r->>0)::bigint, r->>1, r->>2, (r->>3)::integer, r->>4, r->>5, (r->>6)::bigint, (r->>7)::bigint, r->>8)
          returning pos)
        insert into @unindexed (pos, sid) select pos, its_sid from made;
      else
        insert into @record (sid, seq, at, type, v, client, command_id, ref, crc, body)
        values (its_sid, (r->>0)::bigint, r->>1, r->>2, (r->>3)::integer, r->>4, r->>5, (r->>6)::bigint, (r->>7)::bigint, r->>8);
      end if;
    end loop;
    if its_workspace <> entry->>1 then update @session set workspace = entry->>1 where sid = its_sid; end if;
    if change ? 'commandHash' then
      insert into @command_hash values (its_sid, after + 1, change->>'commandHash')
        on conflict (sid, seq) do update set hash = excluded.hash;
    end if;
    if (change->>'clearDraft')::boolean then delete from @draft where sid = its_sid; end if;
    if change ? 'blobs' then perform @use_blobs(its_sid, after + 1, change->'blobs'); end if;
    if change ? 'trust' then
      perform @change_trust(entry->>1, case when is_of_tenant then @grants_of(change->'trust') else change->'trust' end);
    end if;
    if change ? 'charge' then charges := charges || jsonb_build_array(change->'charge'); end if;
    answers := answers || null::jsonb;
  end loop;
  if charges <> '[]' then perform @add_charges(charges); end if;
  return to_jsonb(answers);
end $body$;
`

/** Says why a batch is refused. The checks are those of every store, in the same order: the session, the epoch, a repeated command, the head. */
const refusalFunctions = `
create or replace function @find_command(change jsonb) returns bigint language sql stable as $body$
  select min(seq) from @record where sid = (select sid from @session where id = change->>'session')
    and command_id in (select r->>5 from jsonb_array_elements(change->'records') r)
$body$;

create or replace function @is_committed(change jsonb) returns boolean language sql stable as $body$
  select exists (select 1 from @session where id = change->>'session' and epoch = (change->>'epoch')::bigint
    and head > (change->>'after')::bigint and @is_recorded(sid, change->'records'))
$body$;

create or replace function @why_refused(change jsonb) returns jsonb language plpgsql as $body$
declare
  its record;
  first_seq bigint;
begin
  select head, epoch into its from @session where id = change->>'session';
  if not found then return '{"code": "session_not_found"}'; end if;
  if its.epoch <> (change->>'epoch')::bigint then return jsonb_build_object('code', 'fenced', 'current', its.epoch); end if;
  first_seq := @find_command(change);
  if first_seq is not null then return jsonb_build_object('code', 'command_seen', 'seq', first_seq); end if;
  return jsonb_build_object('code', 'log_moved', 'actual', its.head);
end $body$;
`

/** Version 6: a session of a tenant revokes no trust in tools, which counts for the workspace of everyone. */
export const tenantTrust = `
create function @grants_of(changes jsonb) returns jsonb language sql immutable as $body$
  select coalesce(jsonb_agg(c), '[]') from jsonb_array_elements(changes) c where c->>'type' = 'granted'
$body$;
${appendFunction}`

/** Version 5: an append takes fewer statements. */
export const fasterAppend = `
drop function if exists @append_batch(bigint, bigint, jsonb);
${refusalFunctions}${appendFunction}`

/** Writes the parts of a batch. */
const recordFunctions = `
create function @insert_records(its_sid bigint, records jsonb) returns void language plpgsql as $body$
declare
  r jsonb;
  its_pos bigint;
begin
  for r in select one from jsonb_array_elements(records) with ordinality as list (one, nth) order by nth loop
    insert into @record (sid, seq, at, type, v, client, command_id, ref, crc, body)
    values (its_sid, (r->>0)::bigint, r->>1, r->>2, (r->>3)::integer, r->>4, r->>5, (r->>6)::bigint, (r->>7)::bigint, r->>8)
    returning pos into its_pos;
    if (r->>9)::boolean then insert into @unindexed (pos, sid) values (its_pos, its_sid); end if;
  end loop;
end $body$;

create function @use_blobs(its_sid bigint, first_seq bigint, hashes jsonb) returns void language sql as $body$
  insert into @blob_use (hash, sid, seq) select distinct h, its_sid, first_seq from jsonb_array_elements_text(hashes) h
    order by 1 on conflict do nothing;
$body$;

create function @change_trust(its_workspace text, changes jsonb) returns void language plpgsql as $body$
declare
  change jsonb;
begin
  for change in select c from jsonb_array_elements(changes) c loop
    if change->>'type' = 'granted' then
      insert into @trust values (its_workspace, change->'trust'->>'tool', coalesce(change->'trust'->>'argsHash', ''))
        on conflict do nothing;
    else
      delete from @trust where workspace = its_workspace and (change->>'tool' is null or tool = change->>'tool');
    end if;
  end loop;
end $body$;

create function @is_recorded(its_sid bigint, records jsonb) returns boolean language sql stable as $body$
  select jsonb_array_length(records) > 0 and not exists (
    select 1 from jsonb_array_elements(records) r
      left join @record on sid = its_sid and seq = (r->>0)::bigint
    where crc is distinct from (r->>7)::bigint)
$body$;
`

/**
 * Adds charges to the sums of their days, in the order of the keys, so that two transactions never wait for each other.
 * The first charge of a day removes sums that are too old.
 */
const addCharges = `
create function @add_charges(charges jsonb) returns void language plpgsql as $body$
declare
  charge jsonb;
begin
  for charge in select c from jsonb_array_elements(charges) c loop
    if not exists (select 1 from @spending where day = charge->>'day') then
      delete from @spending where day < charge->>'oldestDay';
    end if;
  end loop;
  insert into @spending (day, payer, workspace, calls, unpriced, tokens, cost)
    select c->>'day', by, place, sum((c->>'calls')::bigint), sum((c->>'unpriced')::bigint), sum((c->>'tokens')::bigint),
      sum(coalesce((c->>'cost')::double precision, 0))
    from jsonb_array_elements(charges) c, unnest(array[c->>'payer', '${allRows}']) by,
      unnest(array[c->>'workspace', '${allRows}']) place
    group by 1, 2, 3 order by 1, 2, 3
  on conflict (day, payer, workspace) do update set calls = spending.calls + excluded.calls,
    unpriced = spending.unpriced + excluded.unpriced, tokens = spending.tokens + excluded.tokens,
    cost = spending.cost + excluded.cost;
end $body$;
`

/** What version 1 had beside `append` itself. */
export const appendFunctions = `${addCharges}${recordFunctions}`
