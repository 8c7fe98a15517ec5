import { orThrow } from '@holdfast/protocol'
import { mustCreate, newSession, readAll } from '@holdfast/testkit/contracts'
import { describe, expect, it } from 'vitest'
import { parsePostgresUrl } from '../connect/postgres-url.ts'
import { openPostgresStore } from '../postgres-store.ts'
import { openReadOnlyPostgres } from '../read-only-store.ts'
import { newLocation, useServer, withDatabase } from '../testing/test-schema.ts'

const server = useServer()

describe('schema', () => {
  it('is created once by nodes that start together', async () => {
    const location = newLocation(server())
    const opened = await Promise.all([1, 2, 3, 4, 5].map(() => openPostgresStore(location)))
    const stores = opened.map((one) => orThrow(one).store)
    const [first, ...others] = stores
    if (first === undefined) throw new Error('no store')
    await mustCreate(first, newSession(1))
    for (const store of others) expect(await readAll(store, 1)).toHaveLength(1)
    await Promise.all(stores.map((store) => store.close()))
  })

  it('of an earlier version is converted with its rows', async () => {
    const location = newLocation(server())
    const before = orThrow(await openPostgresStore(location)).store
    await mustCreate(before, newSession(1))
    await before.close()
    // What version 1 did not have.
    await withDatabase(location, async ({ write }) => {
      await write('drop trigger label_of_new on @session; drop trigger label_of_moved on @session')
      await write('drop function @set_label, @label_of, @is_live, @may_run, @place')
      await write('alter table @session drop column label')
      await write(
        'alter table @node drop column term_ends, drop column key, drop column serves, drop column is_draining',
      )
      await write('drop index @session_tenant, @session_key')
      await write('alter table @session add constraint session_key_key unique (key)')
      await write('alter table @session drop column tenant; alter table @token drop column tenant')
      await write('drop table @tenant_file; drop function @create_session')
      await write('alter table @content drop column object, drop column pieces')
      await write('drop function @find_command, @is_committed, @why_refused')
      await write('drop table @permission; drop function @grants_of')
      await write('update @store set version = 1')
    })
    const opened = await Promise.all([1, 2, 3].map(() => openPostgresStore(location)))
    for (const one of opened) {
      const { store } = orThrow(one)
      expect(await readAll(store, 1)).toHaveLength(1)
      await store.close()
    }
  })

  it('is refused if a newer version wrote it, and stays as it is', async () => {
    const location = newLocation(server())
    await orThrow(await openPostgresStore(location)).store.close()
    await withDatabase(location, ({ write }) => write('update @store set version = 99'))
    expect(await openPostgresStore(location)).toMatchObject({ ok: false, fault: { code: 'store_too_new' } })
    expect(await openReadOnlyPostgres(location)).toMatchObject({ ok: false, fault: { code: 'store_too_new' } })
    const [row] = await withDatabase(location, ({ read }) => read('select version from @store'))
    expect(row).toEqual({ version: 99 })
  })

  it('is refused if another program has tables there, or if one of ours is missing', async () => {
    const foreign = newLocation(server())
    await withDatabase(foreign, async ({ write }) => {
      await write(`create schema "${foreign.schema}"`)
      await write('create table @token (id integer)')
    })
    expect(await openPostgresStore(foreign)).toMatchObject({ ok: false, fault: { code: 'not_a_store' } })

    const broken = newLocation(server())
    await orThrow(await openPostgresStore(broken)).store.close()
    await withDatabase(broken, ({ write }) => write('drop table @draft'))
    expect(await openPostgresStore(broken)).toMatchObject({
      ok: false,
      fault: { code: 'storage_error', details: { reason: 'lacks_table', missing: ['draft'] } },
    })
  })

  it('is not created by a reader', async () => {
    const location = newLocation(server())
    expect(await openReadOnlyPostgres(location)).toEqual({ ok: true, value: null })
    const [row] = await withDatabase(location, ({ read }) =>
      read('select to_regnamespace($1) is null as is_missing', [location.schema]),
    )
    expect(row).toEqual({ is_missing: true })
  })

  it('is refused in a database that does not wait for its disk', async () => {
    const checked = orThrow(parsePostgresUrl(server().url('durable')))
    expect(await openPostgresStore(checked)).toMatchObject({
      ok: false,
      fault: { code: 'storage_error', details: { reason: 'not_durable', fsync: 'off' } },
    })
  })
})
