import { readFileSync } from 'node:fs'
import { orThrow } from '@holdfast/protocol'
import { connect, type Database } from '../../../packages/holdfast/src/store/postgres/connect/connect.ts'
import { parsePostgresUrl } from '../../../packages/holdfast/src/store/postgres/connect/postgres-url.ts'
import type { BusyClients } from './busy-clients.ts'
import type { ThreeNodes } from './three-nodes.ts'

/** Keeps every owner that a session had in each epoch. */
const auditTable = `
create table @audit (id text, epoch bigint, owner text);
create function @audit_owner() returns trigger language plpgsql as $body$
begin
  insert into @audit values (new.id, new.epoch, new.owner);
  return new;
end $body$;
create trigger audit_owner after insert or update of owner, epoch on @session for each row execute function @audit_owner()`

type Checked = Pick<ThreeNodes, 'schema'> & { readonly database: Pick<ThreeNodes['database'], 'url'> }

/** Opens a connection of its own to the database. */
const openDatabase = ({ database, schema }: Checked): Promise<Database> =>
  connect(orThrow(parsePostgresUrl(database.url(schema))))

/** Begins to record owners and epochs, before the first session starts. */
export async function startAudit(cluster: Checked): Promise<void> {
  const database = await openDatabase(cluster)
  await database.write(auditTable)
  await database.close()
}

/** Reads all logs, and returns what must never happen. */
export async function checkLogs(
  cluster: Checked,
  { acknowledged, marks }: Pick<BusyClients, 'acknowledged' | 'marks'>,
): Promise<readonly string[]> {
  const database = await openDatabase(cluster)
  const { read } = database
  const violations: string[] = []
  const say = (what: string, rows: readonly object[]) => {
    for (const row of rows) violations.push(`${what}: ${JSON.stringify(row)}`)
  }
  say(
    'seq is not dense',
    await read(`select id, head, count(seq) as records, max(seq) as last from @session left join @record using (sid)
      group by id, head having count(seq) <> head or max(seq) <> head`),
  )
  say(
    'two owners in one epoch',
    await read(`select id, epoch, array_agg(distinct owner) as owners from @audit where owner is not null
      group by id, epoch having count(distinct owner) > 1`),
  )
  say(
    'a call started or settled twice',
    await read(`select id, type, ref, count(*) from @session join @record using (sid)
      where type in ('call.started', 'call.settled') and ref is not null group by 1, 2, 3 having count(*) > 1`),
  )
  const commands = await read(
    `select id as session, command_id as "commandId", seq from @session join @record using (sid) where command_id is not null
      order by seq`,
  )
  const seqs = new Map<string, number[]>()
  for (const { session, commandId, seq } of commands) {
    const key = `${session} ${commandId}`
    seqs.set(key, [...(seqs.get(key) ?? []), Number(seq)])
  }
  for (const { session, commandId, seq } of acknowledged) {
    const found = seqs.get(`${session} ${commandId}`) ?? []
    if (found.length !== 1 || found[0] !== seq)
      violations.push(`${commandId} was acknowledged at ${seq} and is recorded at [${found}]`)
  }
  const written = readFileSync(marks, 'utf8').split('\n').filter(Boolean)
  for (const mark of new Set(written))
    if (written.filter((one) => one === mark).length > 1) violations.push(`${mark} ran twice`)
  await database.close()
  return violations
}
