import { allRows } from '../../ledger.ts'

/**
 * Appends a list of batches in one transaction and returns an answer for each: null, or why it is refused. All sessions
 * are locked first, in the order of their sids, so that two groups never wait for each other. The checks are those of
 * every store, in the same order: the session, the epoch, a repeated command, the head.
 *
 * `is_retry`: an earlier attempt may have been committed, and its answer was lost. A batch whose records are there, with
 * the same checksums and at the same epoch, was committed by it.
 */
const appendFunction = `
create function @append(changes jsonb, is_retry boolean) returns jsonb language plpgsql as $body$
declare
  change jsonb;
  answers jsonb := '[]';
  charges jsonb := '[]';
  found_session record;
  first_seq bigint;
  after bigint;
begin
  if jsonb_array_length(changes) > 1 then
    perform 1 from @session where id in (select c->>'session' from jsonb_array_elements(changes) c)
      order by sid for no key update;
  end if;
  for change in select c from jsonb_array_elements(changes) c loop
    after := (change->>'after')::bigint;
    select sid, head, epoch into found_session from @session where id = change->>'session' for no key update;
    if not found then
      answers := answers || '[{"code": "session_not_found"}]';
      continue;
    end if;
    if found_session.epoch <> (change->>'epoch')::bigint then
      answers := answers || jsonb_build_array(jsonb_build_object('code', 'fenced', 'current', found_session.epoch));
      continue;
    end if;
    if is_retry and found_session.head > after and @is_recorded(found_session.sid, change->'records') then
      answers := answers || '[null]';
      continue;
    end if;
    if (change->>'hasCommand')::boolean then
      select min(seq) into first_seq from @record where sid = found_session.sid
        and command_id in (select r->>5 from jsonb_array_elements(change->'records') r);
      if first_seq is not null then
        answers := answers || jsonb_build_array(jsonb_build_object('code', 'command_seen', 'seq', first_seq));
        continue;
      end if;
    end if;
    if found_session.head <> after then
      answers := answers || jsonb_build_array(jsonb_build_object('code', 'log_moved', 'actual', found_session.head));
      continue;
    end if;
    perform @append_batch(found_session.sid, after, change);
    if change ? 'charge' then charges := charges || jsonb_build_array(change->'charge'); end if;
    answers := answers || '[null]';
  end loop;
  if charges <> '[]' then perform @add_charges(charges); end if;
  return answers;
end $body$;
`

/** Writes a batch that was accepted. */
const appendBatch = `
create function @append_batch(its_sid bigint, after bigint, change jsonb) returns void language plpgsql as $body$
declare
  entry jsonb := change->'entry';
begin
  update @session set head = after + jsonb_array_length(change->'records'), meta = entry->>0, workspace = entry->>1,
    active_at = (entry->>2)::bigint, spoken = (entry->>3)::boolean, busy = (entry->>4)::boolean,
    pinned = (entry->>5)::smallint
  where sid = its_sid;
  perform @insert_records(its_sid, change->'records');
  if change ? 'commandHash' then
    insert into @command_hash values (its_sid, after + 1, change->>'commandHash')
      on conflict (sid, seq) do update set hash = excluded.hash;
  end if;
  if (change->>'clearDraft')::boolean then delete from @draft where sid = its_sid; end if;
  if change ? 'blobs' then perform @use_blobs(its_sid, after + 1, change->'blobs'); end if;
  if change ? 'trust' then perform @change_trust(entry->>1, change->'trust'); end if;
end $body$;

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

/** Functions that use others come after them. */
export const appendFunctions = `${addCharges}${appendFunction}${appendBatch}`
