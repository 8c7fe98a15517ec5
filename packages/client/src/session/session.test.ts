import { ApprovalId, CallId, HoldfastError, limits, ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createFakeHandle } from '../testing/fake-handle.ts'
import { meta, sessionId, snapshot, view } from '../testing/story.ts'
import { createSession } from './session.ts'

describe('a session', () => {
  it('turns each method into the command of its name', async () => {
    const { handle, submitted } = createFakeHandle()
    const session = createSession(handle)
    const as = 'tab-1' // plain texts and numbers, as a program has them
    expect(session.id).toBe(sessionId)
    expect(await session.sendPrompt('hi', { as })).toEqual({ seq: 11 })
    await session.respondToApproval('reject', 4, 'not that', { as })
    await session.respondToApproval('approve')
    await session.abort()
    await session.enterPlan()
    await session.enterExec({ as })
    expect(submitted).toEqual([
      [{ type: 'sendPrompt', content: 'hi' }, { as }],
      [{ type: 'respondToApproval', decision: 'reject', approval: 4, message: 'not that' }, { as }],
      [{ type: 'respondToApproval', decision: 'approve' }, {}],
      [{ type: 'abort' }, {}],
      [{ type: 'enterPlan' }, undefined],
      [{ type: 'enterExec' }, { as }],
    ])
  })

  it('sends the commands of the queue, trust, driver and model methods', async () => {
    const { handle, submitted } = createFakeHandle()
    const session = createSession(handle)
    const as = 'tab-1'
    await session.queueSteering('left', { as })
    await session.queueFollowUp('then this')
    await session.clearQueues()
    await session.editQueueEntry(4, 'right')
    await session.removeQueueEntry(4)
    await session.reorderQueue('follow_up', [6, 5])
    await session.setToolTrust('write_file', 'session', { as })
    await session.revokeToolTrust('all')
    await session.enterExec({ keepPlan: true, as })
    await session.claimDriver({ as })
    await session.handOver('tab-2', { as })
    await session.setModel('demo/agent')
    await session.setThinkingLevel('high', { as })
    expect(submitted).toMatchObject([
      [{ type: 'queueSteering', content: 'left' }, { as }],
      [{ type: 'queueFollowUp', content: 'then this' }, undefined],
      [{ type: 'clearQueues' }, undefined],
      [{ type: 'editQueueEntry', entry: 4, content: 'right' }, undefined],
      [{ type: 'removeQueueEntry', entry: 4 }, undefined],
      [{ type: 'reorderQueue', queue: 'follow_up', entries: [6, 5] }, undefined],
      [{ type: 'setToolTrust', tool: 'write_file', scope: 'session' }, { as }],
      [{ type: 'revokeToolTrust', tool: 'all' }, undefined],
      [{ type: 'enterExec', keepPlan: true }, { as }],
      [{ type: 'claimDriver' }, { as }],
      [{ type: 'handOver', client: 'tab-2' }, { as }],
      [{ type: 'setModel', model: 'demo/agent' }, undefined],
      [{ type: 'setThinkingLevel', level: 'high' }, { as }],
    ])
  })

  it('returns the entries it removed from the queues, or none', async () => {
    const entry = { id: 4, queue: 'steering', content: [{ type: 'text', text: 'left' }] }
    const taking = (result: Record<string, unknown>) =>
      createSession({ ...createFakeHandle().handle, submit: async () => ok({ seq: 1, result }) })
    expect(await taking({ entries: [entry] }).recallQueues()).toEqual({ seq: 1, entries: [entry] })
    expect(await taking({ entries: [entry] }).dequeueSteering()).toEqual({ seq: 1, entries: [entry] })
    expect(await taking({}).recallQueues()).toEqual({ seq: 1, entries: [] })
    expect(taking({}).combineQueueEntriesToText(['left', 'right'])).toBe('left\n\nright')
  })

  it('throws a refusal with its code', async () => {
    const session = createSession(createFakeHandle().handle)
    await expect(session.continue().accepted).rejects.toBeInstanceOf(HoldfastError)
    await expect(session.continue().accepted).rejects.toMatchObject({ code: 'nothing_to_continue' })
  })

  it('returns the whole line, over all pages', async () => {
    const { handle, pages } = createFakeHandle()
    const session = createSession(handle)
    expect((await session.messages()).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    const limit = limits.pageMessagesMax
    expect(pages).toEqual([0, 4, 8].map((after) => ({ limit, after })))
    const withIds = await session.messagesWithIds()
    expect(withIds.every(({ id, message }) => id === message.id)).toBe(true)
  })

  it('returns its state', async () => {
    const { handle, setState } = createFakeHandle()
    const session = createSession(handle)
    const approval = {
      id: ApprovalId.parse(9),
      call: CallId.parse(8),
      tool: 'shell',
      preview: { type: 'command', command: 'ls', cwd: '/tmp/w' },
    } as const
    const fault = { kind: 'rate_limited', message: 'slow down' } as const
    setState(
      snapshot(10, {
        view: {
          ...view,
          status: 'error',
          pendingApprovals: [approval],
          activeToolCalls: [{ id: CallId.parse(8), tool: 'shell' }],
          lastTurn: { reason: 'failed', fault },
        },
      }),
    )
    expect(await session.editorSnapshot()).toEqual({
      status: 'error',
      pendingApproval: approval,
      pendingApprovals: [approval],
      error: fault,
      activeToolName: 'shell',
      credentialsConfigured: true,
      storageError: null,
    })
    expect(await session.status()).toBe('error')
    expect(await session.activeToolCalls()).toEqual([{ id: 8, tool: 'shell' }])
    expect([await session.getQueuedMessages(), await session.listToolTrust()]).toEqual([[], []])
    expect([await session.metadata(), await session.usage()]).toEqual([meta, meta.usage])
  })
})

describe('the catalogue methods of a session', () => {
  it('send the commands of the same names', async () => {
    const { handle, submitted } = createFakeHandle()
    const session = createSession(handle)
    const as = 'tab-1'
    await session.pinSession({ as })
    await session.pinSession({ pinned: false })
    await session.rename('Harbour works', { as })
    await session.moveWorkdir('/elsewhere')
    expect(submitted).toEqual([
      [{ type: 'pinSession' }, { as }],
      [{ type: 'pinSession', pinned: false }, {}],
      [{ type: 'rename', title: 'Harbour works' }, { as }],
      [{ type: 'moveWorkdir', workdir: '/elsewhere' }, undefined],
    ])
  })

  it('return whether the session is pinned, also when nothing changed', async () => {
    const answering = (result: Record<string, unknown>) =>
      createSession({ ...createFakeHandle().handle, submit: async () => ok({ seq: 1, result }) })
    expect(await answering({ pinned: true }).pinSession()).toMatchObject({ pinned: true })
    expect(await answering({ pinned: false }).pinSession()).toMatchObject({ pinned: false })
    expect(await answering({}).pinSession({ pinned: true })).toMatchObject({ pinned: true })
  })
})

describe('a session in the name of a client', () => {
  it('sends every command, subscribes and attaches in that name', async () => {
    const { handle, submitted, subscriptions } = createFakeHandle()
    const anna = createSession(handle).as('anna')
    await anna.sendPrompt('hi')
    await anna.respondToApproval('approve', 4)
    await anna.enterExec({ keepPlan: true })
    await anna.seedMessages([{ role: 'user', content: 'hi' }])
    await anna.setModel('demo/agent')
    await anna.claimDriver({ takeOver: true })
    expect(submitted.map(([, options]) => options)).toEqual(Array.from({ length: 6 }, () => ({ as: 'anna' })))
    expect(submitted.at(-1)?.[0]).toEqual({ type: 'claimDriver', takeOver: true })
    const frames = anna.subscribe({ after: 3 })[Symbol.asyncIterator]()
    void frames.next()
    await Promise.resolve()
    expect(subscriptions[0]?.options).toMatchObject({ client: 'anna', after: 3 })
    expect((await anna.attach()).client).toBe('anna')
    expect(await anna.status()).toBe(view.status)
  })

  it('is bound to its seat until it detaches', async () => {
    const { handle, submitted } = createFakeHandle()
    const ben = await createSession(handle).attach({ client: 'ben', role: 'viewer' })
    expect([ben.client, ben.role]).toEqual(['ben', 'viewer'])
    await ben.sendPrompt('hi')
    expect(submitted).toEqual([[{ type: 'sendPrompt', content: 'hi' }, { as: 'ben' }]])
    await ben.detach()
    await expect(ben.sendPrompt('hi')).rejects.toMatchObject({ code: 'not_subscribed' })
  })
})
