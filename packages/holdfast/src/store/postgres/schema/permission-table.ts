/** Version 6: the permission rules that count at every node. */
export const permissionTable = `
create table @permission (
  id text collate "C" primary key, tool text not null, pattern text, exact boolean, verdict text not null, workspace text,
  added bigint generated always as identity
);
`
