import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectSessions, createSession } from '@holdfast/client'
import { type Frame, orThrow } from '@holdfast/protocol'
import { aSubagentTool, aTool, call, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { openHoldfast } from './open.ts'
import { openRuntimeServer } from './server/testing/runtime-server.ts'

const write = aTool('write', async (_, __, { begin }) => {
  await begin()
  return { type: 'ok', output: { text: 'written' } }
})

describe('subagents over HTTP', () => {
  it('are listed, followed in one stream, and their approvals answered through the parent', async () => {
    await using test = await openRuntimeServer({}, undefined, {
      tools: [aSubagentTool(), write],
      script: ({ messages }) => {
        const last = JSON.stringify(messages.at(-1))
        if (last.includes('Begin.')) return [call('subagent', { task: 'Write it down.' })]
        return last.includes('Write it down.') ? [call('write', {})] : [say('Done.')]
      },
    })
    const sessions = connectSessions({ url: test.server.url, token: test.tokens.driver })
    const session = createSession(orThrow(await sessions.open(test.runtime.handle.id)))
    const frames: Frame[] = []
    const reading = (async () => {
      for await (const frame of session.subscribe({ children: true })) {
        frames.push(frame)
        if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return
      }
    })()
    for await (const item of session.prompt('Begin.'))
      if (item.type === 'approval')
        await session.respondToApproval('approve_session', item.approval.id, undefined, { child: item.child?.id })
    await reading
    expect(frames.some((frame) => frame.type === 'child' && frame.frame?.type === 'record')).toBe(true)
    expect(frames.some((frame) => frame.type === 'child' && frame.view?.status === 'waiting')).toBe(true)
    expect(await session.subagents()).toMatchObject([{ status: 'completed', agent: 'general', depth: 1 }])
    expect(await session.subagentContext()).toMatchObject({ depth: 1, started: 1, running: 0, refusal: null })
    expect(await session.listToolTrust()).toMatchObject([{ tool: 'write', scope: 'session' }])
    const listed = orThrow(await sessions.list())
    expect(listed.sessions.map(({ id }) => id)).toEqual([session.id])
  })
})

describe('the limit of a tree', () => {
  it('refuses a sixty-fifth subagent, also when they are counted in the store', async () => {
    const home = await mkdtemp(join(tmpdir(), 'holdfast-limit-'))
    const environment = { HOLDFAST_HOME: home, DEMO_PACE: '0', HOLDFAST_LOCAL_MODELS: 'off' }
    try {
      await using holdfast = await openHoldfast({ store: 'memory:', environment })
      const session = await holdfast.startSession({ workdir: home, model: 'demo/agent' })
      const eight = Array.from({ length: 8 }, (_, index) => `delegate list ${index}`).join('\n')
      for (let turn = 0; turn < 8; turn++) await session.prompt(eight).text()
      expect(await session.subagentContext()).toMatchObject({ started: 64, startedMax: 64 })
      await holdfast.stopSession(session.id)
      const again = await holdfast.getSession(session.id)
      expect(await again.prompt('delegate list').text()).toContain('64 subagents were started for this session')
      expect((await again.subagentContext()).refusal).toContain('Do not try again')
      expect(await again.subagents()).toHaveLength(64)
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })
})
