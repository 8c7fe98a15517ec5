import { orThrow } from '@holdfast/protocol'
import { aTool, call, createGate, isRecord, say, type TestRuntime } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'

it.each(['approve', 'reject'] as const)(
  'a late answer to a question that an unnamed client answered (%s) is refused with that reason',
  async (decision) => {
    const done = { type: 'ok' as const, output: { text: 'done' } }
    const runtime = await openMemoryRuntime({
      script: [[call('touch', {})]],
      tools: [aTool('touch', async () => done)],
    })
    await runtime.handle.submit({ type: 'sendPrompt', content: 'go' })
    const asked = await runtime.frame(isRecord('approval.asked'))
    const approval = asked.type === 'record' ? asked.record.seq : 0
    const answer = { type: 'respondToApproval', decision, approval } as const
    await runtime.handle.submit(answer)
    expect(await runtime.handle.submit(answer)).toMatchObject({
      fault: { code: 'already_decided', message: `Approval ${approval} was already answered by someone else.` },
    })
  },
)

it('a late answer to a question that a trust answered gets that reason, while its call still runs', async () => {
  const gate = createGate()
  const run = () => gate.pass().then(() => ({ type: 'ok' as const, output: { text: 'done' } }))
  const runtime = await openMemoryRuntime({ script: [[call('touch', {})]], tools: [aTool('touch', run)] })
  await runtime.handle.submit({ type: 'sendPrompt', content: 'go' })
  const asked = await runtime.frame(isRecord('approval.asked'))
  const approval = asked.type === 'record' ? asked.record.seq : 0
  await runtime.handle.submit({ type: 'setToolTrust', tool: 'touch', scope: 'session' })
  const late = await runtime.handle.submit({ type: 'respondToApproval', decision: 'reject', approval })
  expect(late).toMatchObject({ fault: { code: 'already_decided', details: { by: 'trust: session' } } })
})

it('a late answer to a question gets the reason it was closed: a timeout, or the client that entered plan mode', async () => {
  const done = { type: 'ok' as const, output: { text: 'done' } }
  const open = (approvalTimeoutMs: number) =>
    openMemoryRuntime({
      script: [[call('touch', {})], [say('Well.')]],
      tools: [aTool('touch', async () => done)],
      start: { approvalTimeoutMs },
    })
  const late = async (runtime: TestRuntime, approval: number) => {
    await runtime.frame(isRecord('call.settled'))
    return runtime.handle.submit({ type: 'respondToApproval', decision: 'approve', approval })
  }
  for (const by of ['its timeout', 'ann']) {
    const runtime = await open(1000)
    await runtime.handle.submit({ type: 'sendPrompt', content: 'go' })
    const asked = await runtime.frame(isRecord('approval.asked'))
    if (by === 'ann') await orThrow(await runtime.handle.attach({ client: 'ann' })).submit({ type: 'enterPlan' })
    else runtime.clock.advance(1000)
    const answer = await late(runtime, asked.type === 'record' ? asked.record.seq : 0)
    expect(answer).toMatchObject({ fault: { code: 'already_decided', details: { by } } })
  }
})

it('refuses trust in an unknown tool, and names the nearest; tools of servers may be unknown', async () => {
  const done = { type: 'ok' as const, output: { text: 'done' } }
  const runtime = await openMemoryRuntime({ tools: [aTool('touch', async () => done)] })
  const trust = (tool: string) => runtime.handle.submit({ type: 'setToolTrust', tool, scope: 'session' })
  expect(await trust('tuch')).toMatchObject({
    fault: { code: 'bad_request', message: "There is no tool tuch. Did you mean 'touch'?" },
  })
  expect(await trust('mcp__files__read')).toMatchObject({ ok: true })
})
