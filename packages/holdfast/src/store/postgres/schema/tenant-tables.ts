import { createSession } from './session-functions.ts'

/**
 * Version 3: sessions and tokens may belong to a tenant, and keys are unique within one. `tenant_file` remembers who stored
 * a blob, because the same bytes of two tenants are one blob.
 */
export const tenantTables = `
alter table @session add column tenant text collate "C";
alter table @session drop constraint session_key_key;
create unique index session_key on @session (coalesce(tenant, ''), key) where key is not null;
create index session_tenant on @session (tenant, pinned, active_at, sid)
  where tenant is not null and spoken and trashed_at is null and purged_at is null;
alter table @token add column tenant text collate "C";
create table @tenant_file (
  tenant text collate "C", hash text collate "C", at timestamptz not null default clock_timestamp(),
  primary key (tenant, hash)
);
create index tenant_file_at on @tenant_file (at);
${createSession}`
