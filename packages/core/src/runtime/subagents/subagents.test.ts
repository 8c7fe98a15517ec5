import {
  type ChildView,
  type Frame,
  limits,
  ok,
  orThrow,
  type SessionHandle,
  type SessionId,
  type StartOptions,
} from '@holdfast/protocol'
import {
  aSubagentTool,
  aTool,
  call,
  createGate,
  createScriptedHooks,
  fakePermissions,
  type ScriptedAnswer,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
  waitAt,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../ports/provider.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { createLocalSession } from '../api/local-session.ts'

const writeTool = () =>
  aTool('write', async (_, __, { begin }) => {
    await begin()
    return { type: 'ok', output: { text: 'written' } }
  })

/** Answers by what was said last. */
const answering =
  (answers: Readonly<Record<string, (request: ModelRequest) => ScriptedAnswer>>) =>
  (request: ModelRequest): ScriptedAnswer => {
    const last = JSON.stringify(request.messages.at(-1))
    const found = Object.entries(answers).find(([words]) => last.includes(words))
    return found ? found[1](request) : [say(`Heard: ${last.length}.`)]
  }

const delegate = (args: { readonly [key: string]: unknown }): ScriptedAnswer => [call('subagent', args)]

const open = (
  answers: Readonly<Record<string, (request: ModelRequest) => ScriptedAnswer>>,
  options: Partial<TestRuntimeOptions> = {},
): Promise<TestRuntime> =>
  openMemoryRuntime({ script: answering(answers), tools: [aSubagentTool(), writeTool()], ...options })

async function untilFrame(handle: SessionHandle, fits: (frame: Frame) => boolean): Promise<Frame> {
  for await (const frame of handle.subscribe({ after: 0 })) if (fits(frame)) return frame
  throw new Error('the stream ended first')
}

const turnsEnded = (count: number) => {
  let ended = 0
  return (frame: Frame) => frame.type === 'record' && frame.record.event.type === 'turn.ended' && ++ended === count
}

const childOf = async (handle: SessionHandle): Promise<ChildView> => {
  const [child] = orThrow(await handle.subagents())
  if (!child) throw new Error('there is no subagent')
  return child
}

const resultOf = async (handle: SessionHandle) => {
  const { messages } = orThrow(await handle.page())
  return messages.flatMap((message) => (message.kind === 'tool_call' ? [message.call] : []))[0]
}

/** Resolves with the view of the first subagent that fits. */
async function untilChild(handle: SessionHandle, fits: (view: ChildView) => boolean): Promise<ChildView> {
  const frame = await untilFrame(handle, (one) => one.type === 'child' && one.view !== undefined && fits(one.view))
  if (frame.type !== 'child' || !frame.view) throw new Error('it was no subagent')
  return frame.view
}

describe('a subagent in the foreground', () => {
  it('returns what it said last as the result of the call', async () => {
    const { handle, send } = await open({
      go: () => delegate({ task: 'look around' }),
      'look around': () => [say('A harbour.')],
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilFrame(handle, turnsEnded(1))
    const result = await resultOf(handle)
    expect(result).toMatchObject({
      status: 'complete',
      result: { text: 'A harbour.' },
      child: { outcome: 'completed', agent: 'general' },
    })
    expect(await childOf(handle)).toMatchObject({
      status: 'completed',
      task: 'look around',
      depth: 1,
      parent: handle.id,
    })
  })

  it('inherits model, thinking level, mode, rules and folder, and is listed only under its parent', async () => {
    const start: Partial<StartOptions> = {
      thinkingLevel: 'high',
      mode: 'plan',
      permissions: [{ tool: 'mcp__web__fetch', verdict: 'deny' }],
      budgets: { maxTokens: 10_000 },
      readOnly: false,
      approvals: 'all',
    }
    const { handle, send, registry } = await open(
      { go: () => delegate({ task: 'look' }) },
      { start, tools: [{ ...aSubagentTool(), isReadOnly: true }] },
    )
    await send('0', { type: 'setToolTrust', tool: 'subagent', scope: 'session' })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilFrame(handle, turnsEnded(1))
    const { id } = await childOf(handle)
    const { state } = orThrow(await registry.load(id)).folded()
    expect(state.settings).toMatchObject({
      thinkingLevel: 'high',
      mode: 'plan',
      permissions: start.permissions,
      approvals: 'all',
    })
    expect(state.settings.budgets.maxTokens).toBeLessThan(10_000)
    expect(state.origin).toMatchObject({ workdir: '/work', sessionStartHook: false })
    const all = await registry.stores.list({ limit: 10 })
    expect(all.sessions.map(({ meta }) => meta.id)).toEqual([handle.id])
    const below = await registry.stores.list({ limit: 10, startedFor: handle.id })
    expect(below.sessions.map(({ meta }) => meta.id)).toEqual([id])
  })

  it('tells a failed model call as a failure, never as a finding', async () => {
    const { handle, send } = await open({
      go: () => delegate({ task: 'look' }),
      look: () => [
        {
          type: 'end',
          end: {
            type: 'failed',
            fault: { kind: 'passthrough', message: 'No such model.' },
            retryable: false,
            retryAfterMs: null,
            usage: null,
          },
        },
      ],
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilFrame(handle, turnsEnded(1))
    const result = await resultOf(handle)
    expect(result).toMatchObject({ status: 'error', child: { outcome: 'failed' } })
    expect(result?.result?.text).toContain('The subagent failed: No such model.')
  })

  it('keeps a long result as a blob', async () => {
    const long = 'word '.repeat(20_000)
    const { handle, send } = await open({ go: () => delegate({ task: 'look' }), look: () => [say(long)] })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilFrame(handle, turnsEnded(1))
    const output = (await resultOf(handle))?.result
    expect(output?.blob?.bytes).toBe(long.trim().length)
    expect(output?.text.length).toBeLessThan(limits.childResultBytesMax + 500)
  })

  it('is aborted with its parent', async () => {
    const gate = createGate()
    const { handle, send } = await open({ go: () => delegate({ task: 'look' }), look: () => [say('a'), waitAt(gate)] })
    await send('1', { type: 'sendPrompt', content: 'go' })
    const { id } = await untilChild(handle, ({ status }) => status === 'running')
    await send('2', { type: 'abort' })
    expect(await untilChild(handle, (view) => view.id === id && view.status === 'aborted')).toMatchObject({
      status: 'aborted',
    })
    expect(await resultOf(handle)).toMatchObject({ status: 'interrupted' })
  })
})

describe('limits', () => {
  it('refuses a fourth level with a sentence for the model', async () => {
    const { handle, send, registry } = await open({
      go: () => delegate({ task: 'level one' }),
      'level one': () => delegate({ task: 'level two' }),
      'level two': () => delegate({ task: 'level three' }),
      'level three': () => delegate({ task: 'level four' }),
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilFrame(handle, turnsEnded(1))
    const all = orThrow(await handle.subagents())
    expect(all.map(({ depth }) => depth)).toEqual([1, 2, 3])
    const deepest = registry.loaded(all[2]?.id ?? handle.id)
    expect(deepest && (await resultOf(createLocalSession(registry, deepest.id)))?.result?.text).toContain(
      'do the work yourself',
    )
  })

  it('refuses a ninth at once', async () => {
    const gate = createGate()
    const nine = Array.from({ length: 9 }, (_, index) => call('subagent', { task: `look ${index}`, background: true }))
    const { handle, send } = await open({ go: () => nine, look: () => [waitAt(gate), say('done')] })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilFrame(handle, turnsEnded(1))
    const { messages } = orThrow(await handle.page())
    const failed = messages.filter((message) => message.kind === 'tool_call' && message.call.status === 'error')
    expect(failed).toHaveLength(1)
    expect(orThrow(await handle.subagentContext())).toMatchObject({ running: 8, runningMax: 8, started: 8 })
    gate.open()
  })

  it('refuses a model that cannot be called', async () => {
    const { handle, send } = await open({ go: () => delegate({ task: 'look', model: 'nonsense' }) })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilFrame(handle, turnsEnded(1))
    expect((await resultOf(handle))?.result?.text).toBe(
      'The model nonsense cannot be called. Leave out model to use sim/model.',
    )
    expect(orThrow(await handle.subagents())).toEqual([])
  })

  it('refuses a kind of agent that leaves no tool, and takes tools away', async () => {
    const { handle, send, registry } = await open({
      go: () => [
        call('subagent', { task: 'none', tools: ['other'] }),
        call('subagent', { task: 'some', withoutTools: ['write'] }),
      ],
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilFrame(handle, turnsEnded(1))
    const [child, ...rest] = orThrow(await handle.subagents())
    expect(rest).toEqual([])
    expect(child && registry.loaded(child.id)?.folded().state.origin?.tools).toEqual(['subagent'])
  })
})

describe('a subagent in the background', () => {
  it('returns a name at once, and its result starts a turn', async () => {
    const gate = createGate()
    const { handle, send } = await open({
      go: () => delegate({ task: 'look', background: true }),
      look: () => [waitAt(gate), say('A harbour.')],
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilFrame(handle, turnsEnded(1))
    expect((await resultOf(handle))?.result?.text).toContain('works in the background')
    gate.open()
    await untilFrame(handle, turnsEnded(2))
    const { messages } = orThrow(await handle.page())
    const told = messages.find((message) => message.kind === 'user' && message.child)
    expect(told).toMatchObject({ child: { status: 'completed', agent: 'general' } })
    expect(told?.kind === 'user' && told.text).toContain('A harbour.')
    expect(await resultOf(handle)).toMatchObject({ child: { outcome: 'completed', background: true } })
  })

  it('goes on when its parent is aborted, and ends by its own abort', async () => {
    const gate = createGate()
    const { handle, send, registry } = await open({
      go: () => delegate({ task: 'look', background: true }),
      'works in the background': () => [say('b'), waitAt(gate)],
      look: () => [say('a'), waitAt(createGate())],
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilFrame(handle, (frame) => frame.type === 'record' && frame.record.event.type === 'child.started')
    const { id } = await untilChild(handle, () => true)
    await send('2', { type: 'abort' })
    await untilFrame(handle, turnsEnded(1))
    expect((await childOf(handle)).status).toBe('running')
    await createLocalSession(registry, id).submit({ type: 'abort' })
    await untilFrame(handle, (frame) => frame.type === 'record' && frame.record.event.type === 'prompt.queued')
    const { queue } = orThrow(await handle.state(['queue']))
    expect(queue).toMatchObject([{ child: { session: id, status: 'aborted' } }])
  })
})

describe('an approval of a subagent', () => {
  const asking = { go: () => delegate({ task: 'please write' }), 'please write': () => [call('write', { path: 'a' })] }

  it('appears in the stream of its parent, is answered there, and then goes on', async () => {
    const { handle, send } = await open(asking)
    await send('1', { type: 'sendPrompt', content: 'go' })
    const child = await untilChild(handle, ({ status }) => status === 'waiting')
    const [approval] = child.pendingApprovals
    expect(approval).toMatchObject({ tool: 'write', preview: { type: 'arguments' } })
    expect(orThrow(await handle.state(['meta'])).meta.waiting).toBe(1)
    const answered = await send('2', {
      type: 'respondToApproval',
      decision: 'approve',
      child: child.id,
      approval: approval?.id,
    })
    expect(answered.ok).toBe(true)
    expect(
      await send('2', { type: 'respondToApproval', decision: 'approve', child: child.id, approval: approval?.id }),
    ).toEqual(answered)
    await untilFrame(handle, turnsEnded(1))
    expect(await childOf(handle)).toMatchObject({ status: 'completed', pendingApprovals: [] })
  })

  it('is the oldest one if the session itself asks nothing', async () => {
    const { handle, send } = await open(asking)
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilChild(handle, ({ status }) => status === 'waiting')
    expect((await send('2', { type: 'respondToApproval', decision: 'reject', message: 'no' })).ok).toBe(true)
    await untilFrame(handle, turnsEnded(1))
    expect(await send('3', { type: 'respondToApproval', decision: 'approve' })).toMatchObject({
      fault: { code: 'no_pending_approval' },
    })
  })

  it('is refused for a session that is no subagent of this one', async () => {
    const { handle, send } = await open(asking)
    const stranger = `${handle.id.slice(0, -2)}zz` as SessionId
    expect(await send('2', { type: 'respondToApproval', decision: 'approve', child: stranger })).toMatchObject({
      fault: { code: 'approval_not_found' },
    })
  })

  it('for the session counts for the whole tree', async () => {
    const { handle, send, registry } = await open({
      go: () => [call('subagent', { task: 'please write one' }), call('subagent', { task: 'please write two' })],
      'please write': () => [call('write', { path: 'a' })],
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await untilChild(handle, (view) => view.status === 'waiting' && view.task.endsWith('one'))
    const two = await untilChild(handle, (view) => view.status === 'waiting' && view.task.endsWith('two'))
    await send('2', { type: 'respondToApproval', decision: 'approve_session', child: two.id })
    await untilFrame(handle, turnsEnded(1))
    expect(orThrow(await handle.state(['trust'])).trust).toMatchObject([{ tool: 'write', scope: 'session' }])
    expect(registry.loaded(two.id)?.folded().state.trust).toEqual([])
  })
})

describe('a change above a subagent', () => {
  it('of the mode reaches it while it works', async () => {
    const gate = createGate()
    const { handle, send, registry } = await open({
      go: () => delegate({ task: 'look' }),
      look: () => [waitAt(gate), call('write', { path: 'a' })],
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    const { id } = await untilChild(handle, () => true)
    await send('2', { type: 'enterPlan' })
    await untilFrame(
      createLocalSession(registry, id),
      (frame) => frame.type === 'record' && frame.record.event.type === 'settings.changed',
    )
    gate.open()
    await untilFrame(handle, turnsEnded(1))
    const { messages } = orThrow(await createLocalSession(registry, id).page())
    expect(messages.find((message) => message.kind === 'tool_call')).toMatchObject({ call: { status: 'denied' } })
  })
})

describe('what changes above a subagent', () => {
  /** Starts a subagent that works until the gate opens. */
  async function openWorking() {
    const gate = createGate()
    const test = await open({ go: () => delegate({ task: 'look' }), look: () => [waitAt(gate), say('Done.')] })
    await test.send('1', { type: 'sendPrompt', content: 'go' })
    const { id } = await untilChild(test.handle, () => true)
    return { ...test, gate, child: createLocalSession(test.registry, id) }
  }
  const isRecord = (type: string) => (frame: Frame) => frame.type === 'record' && frame.record.event.type === type

  it('reaches it: boundaries that are set and cleared', async () => {
    const { send, child, gate, handle } = await openWorking()
    orThrow(await send('2', { type: 'setBoundary', path: 'a.txt', start: 0, end: 1 }))
    await untilFrame(child, isRecord('boundary.set'))
    expect(orThrow(await child.state(['boundaries'])).boundaries).toMatchObject([{ path: 'a.txt', start: 0, end: 1 }])
    orThrow(await send('3', { type: 'clearBoundary', path: 'a.txt' }))
    await untilFrame(child, isRecord('boundary.cleared'))
    expect(orThrow(await child.state(['boundaries'])).boundaries).toEqual([])
    gate.open()
    await untilFrame(handle, turnsEnded(1))
  })

  it('reaches it: servers that are turned off and on', async () => {
    const { send, child, gate, handle } = await openWorking()
    orThrow(await send('2', { type: 'setServer', server: 'files', on: false }))
    await untilFrame(child, isRecord('settings.changed'))
    expect(orThrow(await child.state(['serversOff'])).serversOff).toEqual(['files'])
    orThrow(await send('3', { type: 'setServer', server: 'files', on: true }))
    let changes = 0
    await untilFrame(child, (frame) => isRecord('settings.changed')(frame) && ++changes === 2)
    expect(orThrow(await child.state(['serversOff'])).serversOff).toEqual([])
    gate.open()
    await untilFrame(handle, turnsEnded(1))
  })

  const writes = { 'please write': () => [call('write', { path: 'a' })] }

  it.each([
    ['for the workspace', null, 'trust: workspace'],
    ['stored as a rule', { rule: { tool: 'write', verdict: 'allow' }, by: 'your rule `write`' }, 'your rule `write`'],
  ] as const)('reaches it: an approval %s answers its open question', async (_, stored, rule) => {
    const permissions = { ...fakePermissions, judge: async () => null, allow: async () => ok(stored) }
    const { handle, send, registry } = await open(
      { go: () => [call('subagent', { task: 'please write' }), call('write', { path: 'b' })], ...writes },
      { permissions },
    )
    await send('1', { type: 'sendPrompt', content: 'go' })
    const { id } = await untilChild(handle, ({ status }) => status === 'waiting')
    await untilFrame(handle, isRecord('approval.asked'))
    orThrow(await send('2', { type: 'respondToApproval', decision: 'approve_always' }))
    await untilFrame(handle, turnsEnded(1))
    const approved = await untilFrame(createLocalSession(registry, id), isRecord('call.approved'))
    expect(approved).toMatchObject({ record: { event: { by: { rule } } } })
  })

  it('reaches it: trust that is taken back, also such of its own', async () => {
    const gate = createGate()
    const { handle, send, registry } = await open({
      go: () => delegate({ task: 'please write' }),
      ...writes,
      written: () => [waitAt(gate), call('write', { path: 'b' })],
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    const { id } = await untilChild(handle, ({ status }) => status === 'waiting')
    const child = createLocalSession(registry, id)
    orThrow(await send('2', { type: 'respondToApproval', decision: 'approve_turn', child: id }))
    await untilFrame(child, isRecord('call.settled'))
    expect(orThrow(await child.state(['trust'])).trust).toMatchObject([{ tool: 'write', scope: 'turn' }])
    orThrow(await send('3', { type: 'revokeToolTrust', tool: 'write' }))
    await untilFrame(child, isRecord('trust.revoked'))
    gate.open()
    let asked = 0
    await untilFrame(child, (frame) => isRecord('approval.asked')(frame) && ++asked === 2)
    orThrow(await send('4', { type: 'respondToApproval', decision: 'reject', child: id }))
    await untilFrame(handle, turnsEnded(1))
  })

  it('reaches the top: trust for the session that a person gives or takes back in the subagent itself', async () => {
    const { child, gate, handle } = await openWorking()
    orThrow(await child.submit({ type: 'setToolTrust', tool: 'write', scope: 'session' }))
    await untilFrame(handle, isRecord('trust.granted'))
    orThrow(await child.submit({ type: 'revokeToolTrust', tool: 'all' }))
    await untilFrame(handle, isRecord('trust.revoked'))
    expect(orThrow(await handle.state(['trust'])).trust).toEqual([])
    gate.open()
    await untilFrame(handle, turnsEnded(1))
  })

  it('reaches it also while it is being started', async () => {
    const [creating, gate] = [createGate(), createGate()]
    const store = createMemoryStore()
    let created = 0
    const create: typeof store.create = async (session) => {
      if (++created === 2) await creating.pass()
      return store.create(session)
    }
    const { handle, send, registry } = await open(
      { go: () => delegate({ task: 'look' }), look: () => [waitAt(gate), call('write', { path: 'a' })] },
      { store: { ...store, create } },
    )
    await send('1', { type: 'sendPrompt', content: 'go' })
    await creating.reached
    orThrow(await send('2', { type: 'enterPlan' }))
    orThrow(await send('3', { type: 'setBoundary', path: 'a.txt', start: 0, end: 1 }))
    creating.open()
    const { id } = await untilChild(handle, () => true)
    const child = createLocalSession(registry, id)
    await untilFrame(child, isRecord('boundary.set'))
    expect(orThrow(await child.state(['mode', 'boundaries']))).toMatchObject({
      mode: 'plan',
      boundaries: [{ path: 'a.txt' }],
    })
    gate.open()
    await untilFrame(handle, turnsEnded(1))
  })
})

describe('hooks', () => {
  it('can make a subagent go on', async () => {
    const hooks = createScriptedHooks({
      SubagentStop: ({ isGoingOn }) => (isGoingOn ? {} : { block: 'say more' }),
    })
    const { handle, send } = await open(
      { 'begin now': () => delegate({ task: 'look' }), look: () => [say('Less.')], 'say more': () => [say('More.')] },
      { hooks },
    )
    await send('1', { type: 'sendPrompt', content: 'begin now' })
    await untilFrame(handle, turnsEnded(1))
    expect((await resultOf(handle))?.result?.text).toBe('More.')
    expect(hooks.moments).toMatchObject([
      { event: 'SubagentStop', agent: 'general', lastMessage: 'Less.', isGoingOn: false },
      { event: 'SubagentStop', isGoingOn: true },
    ])
  })
})

describe('one stream', () => {
  it('shows the whole tree: every record and fragment of each subagent', async () => {
    const { handle, send, registry } = await open({
      go: () => [call('subagent', { task: 'look one' }), call('subagent', { task: 'look two' })],
      look: () => [say('A quiet harbour at night.')],
    })
    const frames: Frame[] = []
    const reading = (async () => {
      const ended = turnsEnded(1)
      for await (const frame of handle.subscribe({ after: 0, children: true })) {
        frames.push(frame)
        if (ended(frame)) return
      }
    })()
    await send('1', { type: 'sendPrompt', content: 'go' })
    await reading
    for (const { id } of orThrow(await handle.subagents())) {
      const own = frames.flatMap((frame) =>
        frame.type === 'child' && frame.child === id && frame.frame ? [frame.frame] : [],
      )
      const first = own.find((frame) => frame.type === 'snapshot')
      const seqs = own.flatMap((frame) => (frame.type === 'record' ? [frame.record.seq] : []))
      expect(first?.type === 'snapshot' && seqs[0]).toBe((first?.type === 'snapshot' ? first.seq : 0) + 1)
      expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index))
      expect(registry.loaded(id)?.folded().state.seq).toBeGreaterThanOrEqual(seqs.at(-1) ?? 0)
    }
  })
})
