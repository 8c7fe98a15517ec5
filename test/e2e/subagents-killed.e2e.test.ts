import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSession } from '@holdfast/client'
import { type Frame, orThrow, type SessionHandle } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

let home = ''
let workdir = ''
let server: ServerProcess

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'holdfast-kill-tree-'))
  workdir = await mkdtemp(join(tmpdir(), 'holdfast-work-'))
})
afterEach(async () => {
  await server.kill()
  await rm(home, { recursive: true, force: true })
  await rm(workdir, { recursive: true, force: true })
})

async function until(handle: SessionHandle, fits: (frame: Frame) => boolean): Promise<void> {
  for await (const frame of handle.subscribe({ after: 0 })) if (fits(frame)) return
}
const hasChild = (status: string) => (frame: Frame) => frame.type === 'child' && frame.view?.status === status
const isEvent = (type: string) => (frame: Frame) => frame.type === 'record' && frame.record.event.type === type

/** Sends a prompt to a new session, kills the server once a frame fits, and starts it again. */
async function killWhen(prompt: string, fits: (frame: Frame) => boolean, beforeRestart = async () => {}) {
  server = await startServerProcess({ home, env: { DEMO_PACE: '1' } })
  const { id, ...handle } = orThrow(await server.sessions.start({ workdir, model: 'demo/agent' }))
  orThrow(await handle.submit({ type: 'sendPrompt', content: prompt }))
  await until({ id, ...handle }, fits)
  await server.kill()
  await beforeRestart()
  server = await startServerProcess({ home })
  const again = orThrow(await server.sessions.open(id))
  return { handle: again, session: createSession(again) }
}

/** Returns the types of all records of a session. */
async function eventsOf(handle: SessionHandle): Promise<readonly string[]> {
  const { seq: head } = orThrow(await handle.snapshot())
  const types: string[] = []
  for await (const frame of handle.subscribe({ after: 0 })) {
    if (frame.type !== 'record') continue
    types.push(frame.record.event.type)
    if (frame.record.seq >= head) break
  }
  return types
}

/** Lists the sessions from the store, while no server runs. */
async function listed(): Promise<string> {
  using cli = createCli()
  return (await cli.run(['ls', '--all'], { environment: { HOLDFAST_HOME: home } })).stdout
}

describe('kill -9 of a server on SQLite with a subagent', () => {
  it('that waits for an approval leaves the call open, and the answer carries both on', async () => {
    let list = ''
    const { handle, session } = await killWhen('delegate write a.txt: after', hasChild('waiting'), async () => {
      list = await listed()
    })
    expect(list).toMatch(/delegate write a\.txt: after +waiting /)
    await until(handle, hasChild('waiting'))
    expect(orThrow(await handle.state(['activity'])).activity).toBe('tool_executing')
    await session.respondToApproval('approve')
    await until(handle, isEvent('turn.ended'))
    expect((await readFile(join(workdir, 'a.txt'), 'utf8')).trim()).toBe('after')
    const events = await eventsOf(handle)
    expect(events.filter((type) => type === 'child.started')).toHaveLength(1)
    expect(events.filter((type) => type === 'child.ended')).toHaveLength(1)
  })

  it('that works settles the call as interrupted, and starts nothing', async () => {
    const isWorking = (frame: Frame) => frame.type === 'child' && frame.view !== undefined
    const { handle } = await killWhen('delegate count to 100000', isWorking)
    const { lastTurn, queue, activity } = orThrow(await handle.state(['lastTurn', 'queue', 'activity']))
    expect([lastTurn?.reason, queue, activity]).toEqual(['interrupted', [], 'idle'])
    const [child] = orThrow(await handle.subagents())
    expect(child).toMatchObject({ status: 'interrupted' })
    const [call] = orThrow(await handle.page()).messages.flatMap((one) => (one.kind === 'tool_call' ? [one.call] : []))
    expect(call).toMatchObject({ status: 'interrupted', child: { session: child?.id, outcome: 'interrupted' } })
  })

  it('in the background keeps its result as a follow-up, which comes once, with continue', async () => {
    const { handle, session } = await killWhen('delegate in background count to 100000', isEvent('turn.ended'))
    const { queue, activity } = orThrow(await handle.state(['queue', 'activity']))
    expect(queue).toMatchObject([{ queue: 'follow_up', child: { status: 'interrupted' } }])
    expect(activity).toBe('idle')
    await session.continue()
    let ended = 0
    await until(handle, (frame) => isEvent('turn.ended')(frame) && ++ended === 2)
    expect(orThrow(await handle.state(['queue'])).queue).toEqual([])
    await server.kill()
    server = await startServerProcess({ home })
    const last = orThrow(await server.sessions.open(handle.id))
    expect(orThrow(await last.state(['queue'])).queue).toEqual([])
    expect((await eventsOf(last)).filter((type) => type === 'child.ended')).toHaveLength(1)
  })
})
