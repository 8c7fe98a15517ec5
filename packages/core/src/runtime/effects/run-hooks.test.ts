import { type HookEvent, orThrow, type StartOptions } from '@holdfast/protocol'
import {
  aTool,
  call,
  createScriptedHooks,
  type HookScript,
  isRecord,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { ToolArgs } from '../../ports/tool.ts'
import { nextWait } from '../../testing/let-waits-pass.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { lastTexts, textsOf } from '../../testing/request-texts.ts'
import { talkTo } from '../../testing/talk.ts'

const prompt = { type: 'sendPrompt', content: 'go' } as const

/** Opens a session whose model calls `touch` once and then answers. */
async function openHooked(script: HookScript, options: Partial<TestRuntimeOptions> = {}) {
  const ran: ToolArgs[] = []
  const touch = aTool('touch', async (args, _, { begin }) => {
    await begin()
    ran.push(args)
    return { type: 'ok', output: { text: 'touched' } }
  })
  const hooks = createScriptedHooks(script)
  const runtime = await openMemoryRuntime({
    script: [[call('touch', { path: 'a' })], [say('done')]],
    tools: [touch],
    hooks,
    ...options,
  })
  return { ...runtime, ran, hooks, talk: talkTo(runtime.handle) }
}

/** Returns the events of a type, in order. */
async function recorded(runtime: TestRuntime, type: string): Promise<readonly Record<string, unknown>[]> {
  const records = await runtime.store.read(runtime.handle.id, { after: 0, limit: 1000 })
  return records.flatMap((record) => ('lost' in record || record.event.type !== type ? [] : [record.event]))
}

describe('PreToolUse hooks', () => {
  it('veto a call before anybody is asked, with their reason for the model', async () => {
    const { talk, ran, ...runtime } = await openHooked({ PreToolUse: () => ({ block: 'not on Fridays' }) })
    await talk.ask('go')
    expect(ran).toEqual([])
    expect(await recorded(runtime, 'call.settled')).toMatchObject([
      { outcome: { type: 'denied', code: 'vetoed', message: 'not on Fridays' } },
    ])
    expect(await recorded(runtime, 'hook.ran')).toMatchObject([
      { event: 'PreToolUse', about: expect.any(Number), outcome: 'blocked' },
    ])
    expect(await recorded(runtime, 'approval.asked')).toEqual([])
    expect(lastTexts(runtime)).toContain('vetoed: not on Fridays')
  })

  it('change arguments, which are asked about, hashed, run and shown; the model keeps what it sent and is told', async () => {
    const args = { value: { path: 'b' }, by: 'guard' }
    const { ran, ...runtime } = await openHooked({ PreToolUse: () => ({ args, context: 'b is safer' }) })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('approval.asked'))
    const { view } = orThrow(await runtime.handle.snapshot())
    expect(view.pendingApprovals).toMatchObject([{ preview: { args: { path: 'b' } }, rewrittenBy: 'guard' }])
    await runtime.send('b', { type: 'respondToApproval', decision: 'approve' })
    await runtime.frame(isRecord('turn.ended'))
    expect(ran).toEqual([{ path: 'b' }])
    const { messages } = orThrow(await runtime.handle.page({ limit: 50 }))
    expect(messages.find(({ kind }) => kind === 'tool_call')).toMatchObject({
      call: { args: { path: 'b' }, rewrittenBy: 'guard' },
    })
    const request = runtime.model.requests.at(-1)
    const parts = request?.messages.flatMap(({ content }): readonly unknown[] => content)
    expect(parts).toContainEqual(expect.objectContaining({ type: 'call', args: { path: 'a' } }))
    const [result] = textsOf(request).filter((text) => text.startsWith('touched'))
    expect(result).toBe(
      'touched\n\nA hook changed the arguments of this call to {"path":"b"}\n\nContext from a hook:\nb is safer',
    )
  })

  it('that change arguments are still on record after a crash while the question waits', async () => {
    const args = { value: { path: 'b' }, by: 'guard' }
    const { hooks, ...first } = await openHooked({ PreToolUse: () => ({ args }) })
    await first.send('a', prompt)
    await first.frame(isRecord('approval.asked'))
    const { store, blobs } = first
    const ran: ToolArgs[] = []
    const touch = aTool('touch', async (given, _, { begin }) => {
      await begin()
      ran.push(given)
      return { type: 'ok', output: { text: 'touched' } }
    })
    const next = await openMemoryRuntime({ store, blobs, node: 'two', takesOver: true, tools: [touch], hooks })
    await next.send('b', { type: 'respondToApproval', decision: 'approve' })
    await next.frame(isRecord('call.settled'))
    expect(ran).toEqual([{ path: 'b' }])
  })

  it('can ask a person although the tool is trusted', async () => {
    const { ran, ...runtime } = await openHooked({ PreToolUse: () => ({ permission: 'ask' }) })
    await runtime.send('a', { type: 'setToolTrust', tool: 'touch', scope: 'session' })
    await runtime.send('b', prompt)
    expect(await runtime.frame(isRecord('approval.asked'))).toMatchObject({
      record: { event: { reason: 'the hook scripted asks' } },
    })
    expect(ran).toEqual([])
  })

  it.each<[string, Partial<StartOptions>, string]>([
    ['allow a call that would be asked about', {}, 'call.started'],
    ['cannot allow what a rule denies', { permissions: [{ tool: 'touch', verdict: 'deny' }] }, 'call.settled'],
    ['cannot allow what a rule asks about', { permissions: [{ tool: 'touch', verdict: 'ask' }] }, 'approval.asked'],
    ['cannot allow what plan mode denies', { mode: 'plan' }, 'call.settled'],
  ])('%s', async (_, start, expected) => {
    const { ran, ...runtime } = await openHooked({ PreToolUse: () => ({ permission: 'allow' }) }, { start })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord(expected))
    expect(ran.length > 0).toBe(expected === 'call.started')
  })

  it('can end the turn, which can be continued', async () => {
    const { ran, ...runtime } = await openHooked({ PreToolUse: () => ({ stop: 'budget used' }) })
    await runtime.send('a', prompt)
    expect(await runtime.frame(isRecord('turn.ended'))).toMatchObject({ record: { event: { reason: 'limit' } } })
    expect(ran).toEqual([])
    expect(await recorded(runtime, 'note.added')).toMatchObject([{ text: 'A hook ended the turn: budget used' }])
  })
})

describe('PostToolUse hooks', () => {
  const trusting = { permissions: [{ tool: 'touch', verdict: 'allow' as const }] }

  it('see the result, and tell the model something beside it', async () => {
    const post: HookScript = { PostToolUse: () => ({ block: 'lint failed', context: 'see lint.txt', printed: 'x' }) }
    const { talk, hooks, ...runtime } = await openHooked(post, { start: trusting })
    await talk.ask('go')
    expect(hooks.moments).toMatchObject([{ tool: 'touch', args: { path: 'a' }, result: { text: 'touched' } }])
    expect(lastTexts(runtime)).toContain('touched\n\nA hook objects: lint failed\n\nContext from a hook:\nsee lint.txt')
    expect(await recorded(runtime, 'hook.ran')).toMatchObject([{ about: expect.any(Number), output: { text: 'x' } }])
  })

  it('can replace the result', async () => {
    const { talk, ...runtime } = await openHooked({ PostToolUse: () => ({ result: 'redacted' }) }, { start: trusting })
    await talk.ask('go')
    expect(lastTexts(runtime)).toContain('redacted')
    expect(JSON.stringify(await recorded(runtime, 'call.settled'))).not.toContain('touched')
  })
})

describe('UserPromptSubmit hooks', () => {
  it('refuse a prompt, a steering prompt and a follow-up, and nothing is recorded', async () => {
    const { talk, ...runtime } = await openHooked({ UserPromptSubmit: () => ({ block: 'no secrets' }) })
    const before = await runtime.events()
    for (const type of ['sendPrompt', 'queueSteering', 'queueFollowUp'] as const) {
      expect(await runtime.handle.submit({ type, content: 'go' })).toMatchObject({
        ok: false,
        fault: { code: 'hook_vetoed', message: 'The prompt was refused by a hook: no secrets' },
      })
    }
    expect(await runtime.events()).toEqual(before)
  })

  it('add context, which is on record and reaches the model with the prompt', async () => {
    const { talk, ...runtime } = await openHooked(
      { UserPromptSubmit: ({ prompt: said }) => ({ context: `You said ${said}.` }) },
      { script: [[say('done')]] },
    )
    await talk.ask('go')
    expect(await recorded(runtime, 'user.said')).toMatchObject([{ context: 'You said go.' }])
    expect(lastTexts(runtime)).toEqual(['go', 'Context from a hook:\n\nYou said go.'])
    expect(await recorded(runtime, 'hook.ran')).toMatchObject([{ event: 'UserPromptSubmit', turn: 0 }])
  })

  it('add context to a queued prompt, also to an edited one', async () => {
    const { ran, ...runtime } = await openHooked({
      UserPromptSubmit: ({ prompt: said }) => ({ context: `(${said})` }),
    })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('approval.asked'))
    await runtime.send('b', { type: 'queueSteering', content: 'left' })
    const entry = orThrow(await runtime.handle.snapshot()).view.queue[0]?.id ?? 0
    await runtime.send('c', { type: 'editQueueEntry', entry, content: 'right' })
    await runtime.send('d', { type: 'respondToApproval', decision: 'approve' })
    await runtime.frame(isRecord('turn.ended'))
    expect(lastTexts(runtime)).toEqual(expect.arrayContaining(['right', 'Context from a hook:\n\n(right)']))
    expect(lastTexts(runtime)).not.toContain('Context from a hook:\n\n(left)')
  })

  it('do not run again for a retry of the command', async () => {
    const { hooks, ...runtime } = await openHooked({ UserPromptSubmit: () => ({}) }, { script: [[say('done')]] })
    const first = await runtime.send('a', prompt)
    expect(await runtime.send('a', prompt)).toEqual(first)
    expect(hooks.moments).toHaveLength(1)
  })

  it('keep prompts in order, and an abort ends one that hangs', async () => {
    const first = Promise.withResolvers<void>()
    const { ran, ...runtime } = await openHooked({
      UserPromptSubmit: async ({ prompt: said }, signal) => {
        if (said === 'one') await first.promise
        if (said === 'stuck') await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        return signal.aborted ? { block: 'the turn was stopped' } : {}
      },
    })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('approval.asked'))
    const sent = [
      runtime.send('b', { type: 'queueSteering', content: 'one' }),
      runtime.send('c', { type: 'queueSteering', content: 'two' }),
    ]
    first.resolve()
    await Promise.all(sent)
    const { queue } = orThrow(await runtime.handle.snapshot()).view
    expect(queue.map(({ content }) => content)).toMatchObject([[{ text: 'one' }], [{ text: 'two' }]])
    const stuck = runtime.send('d', { type: 'queueSteering', content: 'stuck' })
    const aborting = runtime.send('e', { type: 'abort' })
    await nextWait(runtime)
    runtime.clock.advance(1000)
    expect(await aborting).toMatchObject({ ok: true })
    expect(await stuck).toMatchObject({ ok: false, fault: { code: 'hook_vetoed' } })
  })
})

describe('SessionStart and SessionEnd hooks', () => {
  it('run when a session begins and leaves a process; what they say is in the system text', async () => {
    const systems: unknown[] = []
    const script: HookScript = { SessionStart: () => ({ context: 'Branch main.' }), SessionEnd: () => ({}) }
    const { talk, hooks, ...runtime } = await openHooked(script, { script: () => [say('done')] })
    runtime.registry.deps.instructions.gather = async ({ hookContext }) => {
      systems.push(hookContext)
      return 'Be kind.'
    }
    await talk.ask('one')
    await talk.ask('two')
    expect(systems).toEqual(['Branch main.', 'Branch main.'])
    await runtime.registry.close()
    expect(hooks.moments).toMatchObject([
      { event: 'SessionStart', source: 'startup', model: 'sim/model' },
      { event: 'SessionEnd', reason: 'closing' },
    ])
    expect(await recorded(runtime, 'hook.ran')).toMatchObject([{ event: 'SessionStart' }, { event: 'SessionEnd' }])
    const { store, blobs } = runtime
    const next = await openMemoryRuntime({
      store,
      blobs,
      hooks,
      node: 'two',
      takesOver: true,
      script: () => [say('done')],
    })
    await talkTo(next.handle).ask('three')
    expect(hooks.moments.at(-1)).toMatchObject({ event: 'SessionStart', source: 'resume' })
  })

  it('that hang are given up when the session leaves', async () => {
    const aborted = Promise.withResolvers<void>()
    const { talk, ...runtime } = await openHooked(
      {
        SessionEnd: (_, signal) =>
          new Promise((resolve) =>
            signal.addEventListener('abort', () => {
              aborted.resolve()
              resolve({ failed: 'it took too long' })
            }),
          ),
      },
      { script: [[say('done')]] },
    )
    await talk.ask('go')
    const closing = runtime.registry.close()
    await expect.poll(() => runtime.clock.nextMs()).not.toBeNull()
    runtime.clock.advance(3000)
    await aborted.promise
    await closing
  })
})

describe('PreCompact hooks', () => {
  it('refuse a compaction that a person asks for', async () => {
    const { talk } = await openHooked(
      { PreCompact: ({ trigger }) => ({ block: `not now (${trigger})` }) },
      { script: () => [say('answer')] },
    )
    for (let turn = 0; turn < 12; turn++) await talk.ask(`turn ${turn}`)
    expect(await talk.refusal({ type: 'compact' })).toBe('hook_vetoed')
  })
})

describe('Stop hooks', () => {
  it('make the model go on with their reason, and then let the turn end', async () => {
    let asked = 0
    const { talk, hooks, ...runtime } = await openHooked(
      { Stop: () => (++asked === 1 ? { block: 'run the tests' } : {}) },
      { script: [[say('one')], [say('two')]] },
    )
    await talk.ask('go')
    expect(hooks.moments).toMatchObject([
      { isGoingOn: false, lastMessage: 'one' },
      { isGoingOn: true, lastMessage: 'two' },
    ])
    expect(lastTexts(runtime).at(-1)).toContain('A Stop hook asks you to go on: run the tests')
    expect(await recorded(runtime, 'turn.ended')).toMatchObject([{ reason: 'done' }])
  })

  it('cannot keep a turn from ending for ever', async () => {
    const { talk, model, ...runtime } = await openHooked(
      { Stop: () => ({ block: 'more' }) },
      { script: () => [say('again')] },
    )
    await talk.ask('go')
    expect(model.requests).toHaveLength(9)
    expect(await recorded({ ...runtime, model }, 'turn.ended')).toMatchObject([{ reason: 'done' }])
    expect((await recorded({ ...runtime, model }, 'note.added')).at(-1)).toMatchObject({ code: 'stop_hook_limit' })
  })

  it('are not waited for after a crash: the answered turn is done', async () => {
    const reached = Promise.withResolvers<void>()
    const { store, blobs, ...first } = await openHooked(
      {
        Stop: () => {
          reached.resolve()
          return new Promise(() => undefined)
        },
      },
      { script: [[say('done')]] },
    )
    await first.send('a', prompt)
    await reached.promise
    const next = await openMemoryRuntime({ store, blobs, node: 'two', takesOver: true })
    orThrow(await next.registry.load(next.handle.id))
    expect(await recorded(next, 'turn.ended')).toMatchObject([{ reason: 'done' }])
  })

  it('are aborted with the turn, and steering makes them ask again', async () => {
    let asked = 0
    const { ran, ...runtime } = await openHooked(
      {
        Stop: (_, signal) => {
          if (++asked > 1) return {}
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve({}), { once: true }))
        },
      },
      { script: [[say('one')], [say('two')]] },
    )
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('step.ended'))
    await runtime.send('b', { type: 'queueSteering', content: 'also this' })
    await runtime.frame(isRecord('turn.ended'))
    expect(lastTexts(runtime).at(-1)).toBe('also this')
    expect(asked).toBe(2)
  })
})

describe('Notification hooks', () => {
  it('run for a question, and for a turn that ends while nobody follows it', async () => {
    const { hooks, ...runtime } = await openHooked({ Notification: () => ({}) })
    await runtime.send('a', prompt)
    await expect.poll(() => recorded(runtime, 'hook.ran')).toHaveLength(1)
    await runtime.send('b', { type: 'respondToApproval', decision: 'reject' })
    await expect.poll(() => recorded(runtime, 'hook.ran')).toHaveLength(2)
    expect(hooks.moments).toMatchObject([{ kind: 'permission_prompt' }, { kind: 'idle_prompt' }])
  })
})

describe('a session with hooksEnabled: false', () => {
  it.each<HookEvent>(['PreToolUse', 'UserPromptSubmit', 'SessionStart', 'Stop', 'Notification'])(
    'runs no %s hook',
    async (event) => {
      const { talk, hooks } = await openHooked(
        { [event]: () => ({ block: 'never' }) },
        { script: [[say('done')]], start: { hooksEnabled: false } },
      )
      await talk.ask('go')
      expect(hooks.moments).toEqual([])
    },
  )

  it('and one with sessionStartHook: false runs the others', async () => {
    const { talk, hooks } = await openHooked(
      { SessionStart: () => ({}), UserPromptSubmit: () => ({}) },
      { script: [[say('done')]], start: { sessionStartHook: false } },
    )
    await talk.ask('go')
    expect(hooks.moments).toMatchObject([{ event: 'UserPromptSubmit' }])
  })
})
