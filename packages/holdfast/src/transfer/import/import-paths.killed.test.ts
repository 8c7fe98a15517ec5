import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@holdfast/core/ports'
import { type Event, Handle, orThrow, type Result, refOf, type SessionId, TurnNumber } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { check } from '../../admin/doctor/check-store.ts'
import { appendChecksum, encodeLine } from '../../store/jsonl/log/log-line.ts'
import { openDiskStore } from '../../store/open/open-storage.ts'
import { diskLocationAt } from '../../store/open/store-location.ts'
import { newSessionId } from '../../system/identity.ts'
import { exportFormat } from '../export/jsonl.ts'
import { importPaths } from './import-paths.ts'
import { createLongConversation } from './testing/long-conversation.ts'
import { openTestImporter, sessionOf, type TestImporter } from './testing/test-importer.ts'
import { createImportedLog } from './write/imported-log.ts'

/** Simulates a process that is killed at its n-th append or at the release: it releases nothing. */
const killedAt = ({ depsOn, store }: TestImporter, nth: number): TestImporter['deps'] => {
  let appends = 0
  const dying: Store = {
    ...store,
    async append(append) {
      appends += 1
      if (appends >= nth) throw new Error('killed')
      return store.append(append)
    },
    release: async () => undefined,
  }
  return depsOn({ store: dying, node: { id: 'dead', address: '', startedAt: '' } })
}

describe.each(['sqlite', 'jsonl'] as const)('killed import (%s)', (kind) => {
  const onDisk = async (test: (importer: TestImporter) => Promise<void>) => {
    const directory = mkdtempSync(join(tmpdir(), 'hf-killed-'))
    const place = diskLocationAt(kind, join(directory, kind))
    const { store, blobs } = orThrow(await openDiskStore(place, () => undefined))
    try {
      using importer = await openTestImporter(store, blobs)
      await test(importer)
      await store.close()
      const { findings } = orThrow(await check(place))
      expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([])
    } finally {
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    }
  }

  it.each([1, 2])('before append %d is not listed, and the next import completes it', (nth) =>
    onDisk(async (importer) => {
      const path = importer.place({ 'a.jsonl': createLongConversation(1500) })
      const [killed] = await importPaths(killedAt(importer, nth), [path])
      expect(killed?.status).toBe('failed')
      expect((await importer.store.list({ limit: 10 })).sessions).toEqual([])

      const [file] = await importer.import(path)
      if (!file) throw new Error('nothing was imported')
      const session = sessionOf(file)
      const said = (await importer.messages(session)).filter(({ kind }) => kind !== 'usage')
      expect([file?.status, said.length]).toEqual(['grown', 3000])
      const row = await importer.store.entry(session)
      expect([row?.owner, row?.entry.spoken, row?.entry.meta.messageCount]).toEqual([null, true, 3000])
      expect((await importer.import(path))[0]?.status).toBe('same')
    }),
  )

  it('is removed by the next start', () =>
    onDisk(async (importer) => {
      const path = importer.place({ 'a.jsonl': createLongConversation(1500) })
      await importPaths(killedAt(importer, 1), [path])
      expect(await importer.store.removeUnspoken(['dead'])).toBe(1)
      const [file] = await importer.import(path)
      expect([file?.status, file?.messages]).toEqual(['imported', 3000])
    }))
})

describe('visible import', () => {
  it('adds nothing to a session that another process has open', async () => {
    using importer = await openTestImporter()
    const path = importer.place({ 'a.jsonl': createLongConversation(1500) })
    await importPaths(killedAt(importer, 1), [path])
    await importer.store.registerNode({ id: 'dead', address: '', startedAt: '' })
    const [file] = await importPaths(importer.depsOn({ isAlive: async () => true }), [path])
    expect(file?.status).toBe('changed')
  })

  /** Creates a log with `events` after a turn, and many harmless records around each. */
  const ownLog = (session: SessionId, events: readonly Event[], idle: number): string => {
    const past = createImportedLog({ session, parent: null, base: 0 })
    const turn = TurnNumber.parse(0)
    const settings = { model: 'sim/model', thinkingLevel: 'off', mode: 'exec', budgets: {} } as const
    past.add({ type: 'session.started', handle: Handle.parse('calm-tree-1'), workdir: '/work', settings }, 0)
    past.add({ type: 'turn.started', turn, cause: 'seed' }, 0)
    past.add({ type: 'user.said', turn, content: [{ type: 'text', text: 'hi' }] }, 0)
    past.add({ type: 'turn.ended', turn, reason: 'done' }, 0)
    const wait = () => {
      for (let each = 0; each < idle; each++) past.add({ type: 'settings.changed', title: `t${each}` }, 0)
    }
    for (const event of events) {
      wait()
      past.add(event, 0)
    }
    wait()
    const head = JSON.stringify({ format: exportFormat, version: 1, session, parent: null, base: 0 })
    const records = past.takeAll().flatMap((batch) => batch.records)
    const lines = records.map(({ record: { seq, at, v, event }, body }) =>
      encodeLine(
        session,
        { seq, at, v, type: event.type, by: null, commandId: null, ref: refOf(event), body },
        { prior: 0, more: 0, endsDraft: false, blobs: [] },
      ),
    )
    return appendChecksum(session, head.slice(0, -1)) + lines.join('')
  }
  const trusted: Event = { type: 'trust.granted', tool: 'shell', scope: 'session' }

  it.each<[string, readonly Event[]]>([
    ['trust that is in force at its end', [trusted]],
    ['trust that was taken back, and given again', [trusted, { type: 'trust.revoked', tool: null }, trusted]],
    ['settings without approvals', [{ type: 'settings.changed', approvals: 'none' }]],
  ])('is never visible while %s is in force', async (_, events) => {
    using importer = await openTestImporter()
    const session = newSessionId()
    const seen: boolean[] = []
    const look = async () => {
      const isVisible = (await importer.store.entry(session))?.entry.spoken ?? false
      const { trust, settings } = await importer.state(session)
      if (isVisible) expect([trust, settings.approvals ?? 'destructive']).toEqual([[], 'destructive'])
      seen.push(isVisible)
    }
    const store: Store = {
      ...importer.store,
      async create(made) {
        const created = await importer.store.create(made)
        await look()
        return created
      },
      async append(append) {
        const appended = await importer.store.append(append)
        await look()
        return appended
      },
    }
    const path = importer.place({ 'own.jsonl': ownLog(session, events, 2500) })
    const [file] = await importPaths(importer.depsOn({ store }), [path])
    expect([file?.status, file?.remarks.map(({ code }) => code)]).toEqual(['imported', ['trust_revoked']])
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.indexOf(true)).toBe(seen.length - 1)
    expect((await importer.import(path))[0]?.status).toBe('same')
  })

  it.each<[string, readonly Event[]]>([
    ['trusts', [trusted]],
    ['allows calls without asking', [{ type: 'settings.changed', approvals: 'none' }]],
  ])('is written in batches that do not grow with a session that %s', async (_, events) => {
    using importer = await openTestImporter()
    const count = async (path: string) => {
      const sizes: number[] = []
      const written = (done: Result<void>, { length }: readonly unknown[]) => {
        if (done.ok) sizes.push(length)
        return done
      }
      const store: Store = {
        ...importer.store,
        create: async (made) => written(await importer.store.create(made), made.records),
        append: async (added) => written(await importer.store.append(added), added.records),
      }
      const [file] = await importPaths(importer.depsOn({ store }), [path])
      return [file?.status, Math.max(...sizes), sizes.length]
    }
    const session = newSessionId()
    const placed = (name: string, ...log: Parameters<typeof ownLog>) => importer.place({ [name]: ownLog(...log) })
    const short = await count(placed('1.jsonl', newSessionId(), [...events, ...events], 2000))
    const long = await count(placed('2.jsonl', newSessionId(), [...events, ...events], 4000))
    expect([short, long]).toEqual([
      ['imported', 2000, 4],
      ['imported', 2000, 7],
    ])
    // A listed session grows in the same batches.
    await importer.import(placed('3.jsonl', session, [], 10))
    expect(await count(placed('4.jsonl', session, events, 4000))).toEqual(['grown', 2000, 6])
    const { trust, settings } = await importer.state(session)
    expect([trust, settings.approvals ?? 'destructive']).toEqual([[], 'destructive'])
  })

  it('ends the trust of a session that it extends', async () => {
    using importer = await openTestImporter()
    const session = newSessionId()
    const short = importer.place({ '1.jsonl': ownLog(session, [trusted], 1) })
    await importPaths(importer.deps, [short], { keepSettings: true })
    expect((await importer.state(session)).trust.length).toBe(1)
    const named: Event = { type: 'settings.changed', title: 'longer' }
    const [file] = await importer.import(importer.place({ '2.jsonl': ownLog(session, [trusted, named], 1) }))
    expect([file?.status, (await importer.state(session)).trust]).toEqual(['grown', []])
  })

  it('is completed to an idle state when it was killed before a trust record', async () => {
    using importer = await openTestImporter()
    const session = newSessionId()
    const path = importer.place({ 'own.jsonl': ownLog(session, [trusted], 2500) })
    await importPaths(killedAt(importer, 1), [path])
    expect((await importer.store.entry(session))?.entry.spoken).toBe(false)
    expect((await importer.import(path))[0]?.status).toBe('grown')
    const { trust, seq } = await importer.state(session)
    expect([trust, seq]).toEqual([[], 5005])
  })
})
