export const isVisible = (session: string): string =>
  `(${session}.spoken and ${session}.trashed_at is null and ${session}.purged_at is null)`

/** Returns the session that shows a record: the one that has it or, if that is hidden, the oldest fork that shares it. */
const shownBy = `
create function @shown_by(its_sid bigint, its_seq bigint) returns bigint language sql stable as $body$
  with recursive holder (sid, is_visible) as (
    select sid, ${isVisible('own')} from @session own where sid = its_sid
    union all
    select fork.sid, ${isVisible('fork')} from holder join @session fork on fork.parent = holder.sid
      where not holder.is_visible and fork.base >= its_seq
  )
  select min(sid) from holder where is_visible
$body$;
`

/** Returns the body of a record of a session or of its lineage: a call may have been requested before the fork. */
const bodyAt = `
create function @body_at(its_sid bigint, its_seq bigint) returns text language sql stable as $body$
  with recursive holder (sid, parent, base) as (
    select sid, parent, base from @session where sid = its_sid
    union all
    select above.sid, above.parent, above.base from holder join @session above on above.sid = holder.parent
      where its_seq <= holder.base
  )
  select body from holder join @record using (sid) where seq = its_seq and seq > base
$body$;
`

export const searchFunctions = `${shownBy}${bodyAt}`
