import { orThrow, TurnNumber } from '@holdfast/protocol'
import { aSession, aSubagentTool, aTool, call, createGate, isRecord, say, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Problem } from '../../ports/observer.ts'
import { emptySession } from '../../session/state.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { createNotifiers, type Notification } from './notifiers.ts'

describe('a notifier', () => {
  it('is called once for each question and each end of a turn', async () => {
    const runtime = await openMemoryRuntime({
      tools: [aTool('touch', async () => ({ type: 'ok', output: { text: 'touched' } }))],
      script: [[call('touch', {})], [say('Done.')]],
    })
    const notifications: Notification[] = []
    runtime.registry.notify(aSession, (notification) => void notifications.push(notification))
    await runtime.send('a', { type: 'sendPrompt', content: 'go' })
    await runtime.frame(isRecord('approval.asked'))
    await runtime.send('b', { type: 'setToolTrust', tool: 'mcp__files__other', scope: 'session' })
    await runtime.send('c', { type: 'respondToApproval', decision: 'approve' })
    await runtime.frame(isRecord('turn.ended'))
    await runtime.send('d', { type: 'enterPlan' })
    expect(notifications).toMatchObject([
      { type: 'approval.asked', session: aSession, approval: { tool: 'touch' } },
      { type: 'turn.ended', session: aSession, reason: 'done' },
    ])
  })

  it('that is set during a turn is called for the open question and the end', async () => {
    const runtime = await openMemoryRuntime({
      tools: [aTool('touch', async () => ({ type: 'ok', output: { text: 'touched' } }))],
      script: [[call('touch', {})]],
    })
    await runtime.send('a', { type: 'sendPrompt', content: 'go' })
    await runtime.frame(isRecord('approval.asked'))
    const notifications: string[] = []
    runtime.registry.notify(aSession, ({ type }) => void notifications.push(type))
    await runtime.send('b', { type: 'abort' })
    expect(notifications).toEqual(['approval.asked', 'turn.ended'])
  })

  it('is called for the questions of subagents, with the subagent, and not for the end of their turns', async () => {
    const runtime = await openMemoryRuntime({
      tools: [aSubagentTool(), aTool('touch', async () => ({ type: 'ok', output: { text: 'touched' } }))],
      script: [[call('subagent', { task: 'touch it' })], [call('touch', {})], [say('Touched.')], [say('Done.')]],
    })
    const [early, late]: [Notification[], Notification[]] = [[], []]
    const asked = Promise.withResolvers<void>()
    runtime.registry.notify(aSession, (notification) => {
      early.push(notification)
      asked.resolve()
    })
    await runtime.send('a', { type: 'sendPrompt', content: 'go' })
    await asked.promise
    runtime.registry.notify(aSession, (notification) => void late.push(notification))
    const [child] = orThrow(await runtime.handle.subagents())
    const question = { type: 'approval.asked', session: aSession, child: child?.id, approval: { tool: 'touch' } }
    expect(early).toMatchObject([question])
    await runtime.send('b', { type: 'respondToApproval', decision: 'approve' })
    await runtime.frame(isRecord('turn.ended'))
    expect(late).toMatchObject([question, { type: 'turn.ended', session: aSession, reason: 'done' }])
  })

  it('is called when a turn ends because its session crashed', async () => {
    const gate = createGate()
    const store = createMemoryStore()
    let breaks = false
    const runtime = await openMemoryRuntime({
      store: {
        ...store,
        append(one) {
          if (!breaks) return store.append(one)
          breaks = false // once: the restart of the session must succeed
          return Promise.reject(new Error('a bug'))
        },
      },
      script: [[waitAt(gate)]],
    })
    const ended = Promise.withResolvers<string>()
    runtime.registry.notify(
      aSession,
      (notification) => notification.type === 'turn.ended' && ended.resolve(notification.reason),
    )
    await runtime.send('a', { type: 'sendPrompt', content: 'go' })
    await gate.reached
    breaks = true
    await runtime.send('b', { type: 'enterPlan' })
    await runtime.registry.load(aSession)
    expect(await ended.promise).toBe('interrupted')
  })

  it('that throws is reported and changes nothing else', () => {
    const problems: Problem[] = []
    const notifying = createNotifiers((problem) => void problems.push(problem))
    const broken = () => {
      throw new Error('the bell is broken')
    }
    notifying.set(aSession, broken, null)
    const state = emptySession()
    const first = TurnNumber.parse(0)
    notifying.afterChange(aSession, {
      ...state,
      turn: { phase: 'preparing', isAnswered: false, attempt: 1, number: first, steps: 0, fallback: null },
    })
    notifying.afterChange(aSession, { ...state, turn: { phase: 'idle', last: { number: first, reason: 'done' } } })
    expect(problems).toMatchObject([{ where: `the notifier of ${aSession}`, cause: { message: 'the bell is broken' } }])
  })
})
