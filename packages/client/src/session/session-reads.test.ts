import { CallId, fault, Instant, limits, type Message, ok, orThrow, refuse, Seq } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { listAll } from '../holdfast/list-all.ts'
import { createFakeHandle } from '../testing/fake-handle.ts'
import { meta, snapshot, view } from '../testing/story.ts'
import { createSession } from './session.ts'

describe('the methods that read the state', () => {
  it('read no message', async () => {
    const { handle, setState } = createFakeHandle()
    setState(snapshot(10, { view: { ...view, tokens: 7 }, summary: 'so far' }))
    const never = async () => refuse(fault('internal', 'The transcript was read.'))
    const session = createSession({ ...handle, snapshot: never, page: never })
    expect(await session.status()).toBe(view.status)
    expect(await session.metadata()).toEqual(meta)
    expect([await session.usage(), await session.turnUsage()]).toEqual([meta.usage, view.turnUsage])
    expect([await session.pinnedIds(), await session.activeToolCalls()]).toEqual([[], []])
    expect([await session.getQueuedMessages(), await session.listToolTrust()]).toEqual([[], []])
    expect([await session.isPersistent(), await session.clientEventsComplete()]).toEqual([true, false])
    expect([await session.subscriberRole('nobody'), await session.credentialsConfigured()]).toEqual([null, true])
    expect(await session.contextUsage()).toMatchObject({ tokens: 7 })
    expect(await session.getSummary()).toBe('so far')
    expect(await session.getProvider()).toMatchObject({ model: meta.model })
    expect(await session.editorSnapshot()).toMatchObject({ status: view.status, pendingApproval: null })
  })
})

describe('the messages of a session', () => {
  it('are read page by page in a loop, and no further than the loop goes', async () => {
    const { handle, pages } = createFakeHandle()
    const seen: Message[] = []
    for await (const message of createSession(handle).messages()) {
      seen.push(message)
      if (seen.length === 2) break
    }
    expect(seen.map(({ id }) => id)).toEqual([1, 2])
    expect(pages.map(({ after }) => after)).toEqual([0, 4]) // one page is read ahead
  })

  it('are all of them, in a loop as in a list', async () => {
    const session = createSession(createFakeHandle().handle)
    const seen: Message[] = []
    for await (const message of session.messages()) seen.push(message)
    expect(seen).toEqual(await session.messages())
    expect(seen).toHaveLength(10)
  })

  it('are read without pages where the handle reads a whole line, in a loop and as a list', async () => {
    const { handle, pages } = createFakeHandle()
    const list = orThrow(await handle.page({ limit: 10 })).messages
    const branches: (string | undefined)[] = []
    const session = createSession({
      ...handle,
      async *messages({ branch } = {}) {
        branches.push(branch)
        if (branch === 'x') return yield refuse(fault('branch_not_found', 'There is no branch x.'))
        yield ok(list.slice(0, 4))
        yield ok(list.slice(4))
      },
    })
    pages.length = 0
    const seen: Message[] = []
    for await (const message of session.messages()) seen.push(message)
    expect(seen).toEqual(list)
    expect(await session.messages({ branch: 'y' })).toEqual(list)
    await expect(session.messages({ branch: 'x' })).rejects.toMatchObject({ code: 'branch_not_found' })
    expect([branches, pages]).toEqual([[undefined, 'y', 'x'], []])
  })

  it('are not read before someone asks', async () => {
    const { handle, pages } = createFakeHandle()
    createSession(handle).messages()
    await Promise.resolve()
    expect(pages).toEqual([])
  })

  it('throw the refusal of a page', async () => {
    const { handle } = createFakeHandle()
    const page = async () => refuse(fault('branch_not_found', 'There is no branch x.'))
    const session = createSession({ ...handle, page })
    await expect(session.messages({ branch: 'x' })).rejects.toMatchObject({ code: 'branch_not_found' })
    await expect(session.page({ branch: 'x' })).rejects.toMatchObject({ code: 'branch_not_found' })
    await expect(session.blob('a'.repeat(64))).rejects.toMatchObject({ code: 'blob_not_found' })
  })
})

describe('a page, a snapshot and the client events', () => {
  it('are those of the handle', async () => {
    const { handle } = createFakeHandle()
    const session = createSession(handle)
    expect((await session.page({ limit: 4 })).messages.map(({ id }) => id)).toEqual([7, 8, 9, 10])
    expect(await session.snapshot()).toEqual(snapshot(10))
  })

  it('are read page by page', async () => {
    const { handle } = createFakeHandle()
    const asked: (number | undefined)[] = []
    const clientEvents: typeof handle.clientEvents = (request) => {
      asked.push(request?.after)
      return handle.clientEvents(request)
    }
    const session = createSession({ ...handle, clientEvents })
    const seen: number[] = []
    for await (const { seq } of session.clientEvents({ after: 1 })) seen.push(seq)
    expect(seen).toEqual([2, 3, 4, 5])
    expect(asked).toEqual([1, 3])
  })
})

describe('the list of all sessions', () => {
  it('follows the cursors of the pages, as far as the loop goes', async () => {
    const asked: unknown[] = []
    const list = async (options: object = {}) => {
      asked.push(options)
      return ok({ sessions: [meta, meta], next: asked.length < 3 ? `at-${asked.length}` : null })
    }
    let count = 0
    for await (const _ of listAll({ list }, { workspace: '/w' })) count++
    expect(count).toBe(6)
    expect(asked).toMatchObject([{ workspace: '/w' }, { cursor: 'at-1' }, { workspace: '/w', cursor: 'at-2' }])
  })
})

describe('the files that a session changed', () => {
  it('are those of the newest changes if there are very many, and the list says so', async () => {
    const { handle } = createFakeHandle()
    let read = 0
    const at = Instant.parse('2026-01-02T03:04:05.000Z')
    const session = createSession({
      ...handle,
      async fileChanges({ before = Seq.parse(1001) } = {}) {
        read++
        const seq = Seq.parse(before - 1)
        const changes = Array.from({ length: 1000 }, (_, index) => ({
          seq,
          at,
          call: CallId.parse(seq),
          path: `${seq}-${index}`,
          change: 'created' as const,
        }))
        return ok({ changes, before: seq === 1 ? null : seq })
      },
    })
    const files = await session.touchedFiles()
    expect([files.length, files.isCut, files[0]?.path]).toEqual([limits.touchedChangesMax, true, '1000-0'])
    expect(read).toBe(limits.touchedChangesMax / 1000 + 1)
  })
})
