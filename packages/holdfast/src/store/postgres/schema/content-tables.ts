/** Version 4: the bytes of a content may be elsewhere. `object` says where, and `pieces` how many objects there are. */
export const contentTables = `
alter table @content add column object text, add column pieces integer not null default 0;
`
