import { orThrow } from '@holdfast/protocol'
import { appendTo, codeOf, mustCreate, newSession, readAll, recordAt, textSaid } from '@holdfast/testkit/contracts'
import { openSocketProxy } from '@holdfast/testkit/postgres'
import { describe, expect, it } from 'vitest'
import { openPostgresStore } from './postgres-store.ts'
import { locationOf, newLocation, useServer, withDatabase } from './testing/test-schema.ts'

const server = useServer()

/** Opens a store whose database answers the next `times` inserts of records with an error; without end by default. */
async function openFailing(sqlState: string, times = Number.MAX_SAFE_INTEGER) {
  const location = newLocation(server())
  const { store } = orThrow(await openPostgresStore(location))
  await mustCreate(store, newSession(1))
  await withDatabase(location, async ({ write }) => {
    await write('create sequence @failures')
    await write(`create function @fail() returns trigger language plpgsql as $body$
      begin
        if nextval('@failures') <= ${times} then raise exception 'as asked' using errcode = '${sqlState}'; end if;
        return new;
      end $body$`)
    await write('create trigger fail before insert on @record for each row execute function @fail()')
  })
  const mend = () => withDatabase(location, ({ write }) => write('drop function @fail cascade'))
  return { store, mend, append: () => store.append(appendTo(1, 1, { records: [recordAt(2, textSaid('more'))] })) }
}

describe('an append while the database', () => {
  it.each([
    ['has a full disk', '53100', 'disk_full'],
    ['is read-only', '25006', 'read_only'],
    ['has too many connections', '53300', 'too_many_connections'],
    ['reports damaged data', 'XX001', 'damaged'],
    ['cannot read its disk', '58030', 'io'],
  ])('%s is refused cleanly, leaves nothing, and succeeds afterwards', async (_, sqlState, reason) => {
    const { store, mend, append } = await openFailing(sqlState)
    expect(await append()).toMatchObject({
      ok: false,
      fault: { code: 'storage_error', details: { reason, sqlState } },
    })
    expect(await readAll(store, 1)).toHaveLength(1)
    await mend()
    expect(codeOf(await append())).toBe('ok')
    expect(await readAll(store, 1)).toHaveLength(2)
    await store.close()
  })

  it.each([
    ['cannot serialize transactions', '40001'],
    ['ends a deadlock', '40P01'],
  ])('%s is repeated, and refused if that does not end', async (_, sqlState) => {
    const brief = await openFailing(sqlState, 2)
    expect(codeOf(await brief.append())).toBe('ok')
    expect(await readAll(brief.store, 1)).toHaveLength(2)
    await brief.store.close()
    const endless = await openFailing(sqlState)
    expect(await endless.append()).toMatchObject({ ok: false, fault: { details: { reason: 'busy' } } })
    expect(await readAll(endless.store, 1)).toHaveLength(1)
    await endless.store.close()
  })

  it('was really set to read-only is refused with what to do', async () => {
    const location = newLocation(server())
    await orThrow(await openPostgresStore(location)).store.close()
    await withDatabase(location, ({ write }) => write('alter database postgres set default_transaction_read_only = on'))
    try {
      const { store } = orThrow(await openPostgresStore(location))
      expect(await store.create(newSession(1))).toMatchObject({
        ok: false,
        fault: { details: { reason: 'read_only' }, message: expect.stringContaining('primary') },
      })
      await store.close()
    } finally {
      await withDatabase(location, ({ write }) =>
        write('set transaction read write; alter database postgres reset default_transaction_read_only'),
      )
    }
  })
})

describe('a read while the database is away', () => {
  it.each([
    ['waits as an append does', 4, 4000, 'ok'],
    ['is refused after half a term', 1000, 1000, 'unreachable'],
  ])('%s', async (_, connections, termMs, expected) => {
    const proxy = await openSocketProxy(server())
    const location = { ...locationOf(proxy, 'read_away'), termMs }
    const { store } = orThrow(await openPostgresStore(location))
    await store.create(newSession(1))
    proxy.refuseNext(connections)
    const read = readAll(store, 1).then(
      (records) => (records.length === 1 ? 'ok' : 'lost'),
      ({ details }) => details?.reason,
    )
    expect(await read).toBe(expected)
    await store.close()
    await proxy.close()
  })

  it('is refused at once if the database never answered', async () => {
    const proxy = await openSocketProxy(server())
    proxy.refuseNext(3)
    const location = locationOf(proxy, 'never')
    // Two attempts: the fourth would be answered.
    expect(await openPostgresStore(location)).toMatchObject({
      ok: false,
      fault: { details: { reason: 'unreachable' } },
    })
    await proxy.close()
  })
})
