/**
 * Version 2: nodes have a term, by the clock of the database, a key and the folders they serve. A session has the label of
 * its folder, so that only nodes with the same files run it.
 */
export const clusterTables = `
alter table @node add column term_ends timestamptz not null default clock_timestamp(),
  add column key text, add column serves jsonb not null default '[]', add column is_draining boolean not null default false;
alter table @session add column label text collate "C";

create function @label_of(its_workspace text, its_node text) returns text language sql stable as $body$
  select folder->>'label' from @node, jsonb_array_elements(serves) folder
  where id = its_node
    and (its_workspace = folder->>'path' or starts_with(its_workspace, rtrim(folder->>'path', '/') || '/'))
  order by length(folder->>'path') desc limit 1
$body$;

create function @set_label() returns trigger language plpgsql as $body$
begin
  new.label := @label_of(new.workspace, new.owner);
  return new;
end $body$;
create trigger label_of_new before insert on @session for each row execute function @set_label();
create trigger label_of_moved before update of workspace on @session for each row
  when (old.workspace is distinct from new.workspace) execute function @set_label();

create function @is_live(its_node text) returns boolean language sql volatile as $body$
  select exists (select 1 from @node where id = its_node and term_ends > clock_timestamp())
$body$;

create function @may_run(its_node text, its_workspace text, its_label text) returns boolean language sql volatile as $body$
  select coalesce((select not is_draining and (its_label is null or its_label is not distinct from
    @label_of(its_workspace, its_node)) from @node where id = its_node), true)
$body$;

create function @place(its_session text, here text) returns text language sql volatile as $body$
  select case
    when s.owner is not null and s.owner <> here and @is_live(s.owner) then s.owner
    when @may_run(here, s.workspace, s.label) then null
    else (select n.id from @node n where n.id <> here and n.key is not null and n.term_ends > clock_timestamp()
      and @may_run(n.id, s.workspace, s.label) order by n.id limit 1)
  end from @session s where s.id = its_session
$body$;
`

/**
 * Version 6: a session that was started for another one goes to the live owner of that one. A node keeps what it owns, also
 * while it drains.
 */
export const placeBesideParent = `
create or replace function @place(its_session text, here text) returns text language sql volatile as $body$
  with recursive above (started_for, owner, depth) as (
    select started_for, owner, 0 from @session where id = its_session
    union all
    select s.started_for, s.owner, depth + 1 from above join @session s on s.id = above.started_for where depth < 16
  )
  select case
    when s.owner = here then null
    when s.owner is not null and @is_live(s.owner) then s.owner
    when beside.owner <> here and @may_run(beside.owner, s.workspace, s.label) then beside.owner
    when @may_run(here, s.workspace, s.label) then null
    else (select n.id from @node n where n.id <> here and n.key is not null and n.term_ends > clock_timestamp()
      and @may_run(n.id, s.workspace, s.label) order by n.id limit 1)
  end from @session s left join lateral (
    select owner from above where depth > 0 and owner is not null and @is_live(owner) order by depth limit 1
  ) beside on true where s.id = its_session
$body$;
`
