import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Session } from '@holdfast/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Holdfast, openHoldfast } from './open.ts'

describe('openHoldfast', () => {
  let home = ''
  let holdfast: Holdfast

  const environment = () => ({ HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] })
  const open = (store?: string) => openHoldfast({ environment: environment(), store })
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-open-'))
    holdfast = await open()
  })
  afterEach(async () => {
    await holdfast.close()
    await rm(home, { recursive: true, force: true })
  })

  /** Until the running turn is over. */
  async function rested(session: Session): Promise<void> {
    for await (const frame of session.subscribe({ after: 0 })) {
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return
    }
  }

  it('opens the store it is given', async () => {
    const path = join(home, 'elsewhere.db')
    const other = await open(`sqlite:${path}`)
    await (await other.startSession({ workdir: home })).sendPrompt('list')
    await other.close()
    expect(existsSync(path)).toBe(true)
    expect((await holdfast.list()).sessions).toEqual([])
    await expect(open('postgres://nowhere')).rejects.toMatchObject({ code: 'bad_request' })
  })

  it('keeps a session in memory alone when it is told to', async () => {
    const memory = await open('memory:')
    const session = await memory.startSession({ workdir: home })
    await session.sendPrompt('list')
    await rested(session)
    expect((await memory.list()).sessions.map(({ title }) => title)).toEqual(['list'])
    await memory.close()
    expect((await holdfast.list()).sessions).toEqual([])
  })

  it('lists the sessions that are awake', async () => {
    expect(holdfast.listSessions()).toEqual([])
    const { id } = await holdfast.startSession({ workdir: home })
    expect(holdfast.listSessions().map(({ session, metadata }) => [session.id, metadata.id])).toEqual([[id, id]])
  })

  it('prompts a session by its name', async () => {
    const session = await holdfast.startSession({ workdir: home })
    await holdfast.sendPrompt(session.id, 'what can you do?')
    await rested(session)
    expect((await session.messages()).map(({ kind }) => kind)).toContain('assistant')
  })

  it('aborts a session by its name', async () => {
    const session = await holdfast.startSession({ workdir: home })
    await session.sendPrompt('run sleep 1000')
    for await (const frame of session.subscribe({ after: 0 })) {
      if (frame.type === 'record' && frame.record.event.type === 'approval.asked') break
    }
    await holdfast.abort(session.id)
    expect(await session.status()).toBe('idle')
  })

  it('finds a session by id, prefix and handle', async () => {
    const { id } = await holdfast.startSession({ workdir: home })
    const { handle } = (await (await holdfast.getSession(id)).metadata()) ?? {}
    for (const name of [id, id.slice(0, 24), handle]) expect((await holdfast.getSession(name)).id).toBe(id)
    await expect(holdfast.getSession('calm-harbor-999999')).rejects.toMatchObject({ code: 'session_not_found' })
    await expect(holdfast.getSession('../etc/passwd')).rejects.toMatchObject({ code: 'bad_id' })
  })

  it('stops a session, which opens again where it stood', async () => {
    const session = await holdfast.startSession({ workdir: home })
    await session.sendPrompt('list')
    await rested(session)
    const before = await session.messages()
    await holdfast.stopSession(session.id)
    expect(holdfast.listSessions()).toEqual([])
    expect(await (await holdfast.getSession(session.id)).messages()).toEqual(before)
  })

  it('finds the session of a key, or starts it', async () => {
    const first = await holdfast.getOrCreate('telegram:4711', { workdir: home })
    expect((await holdfast.getOrCreate('telegram:4711')).id).toBe(first.id)
    expect((await holdfast.getOrCreate('telegram:4712', { workdir: home })).id).not.toBe(first.id)
    await expect(holdfast.getOrCreate('bad\u0000key')).rejects.toMatchObject({ code: 'bad_id' })
    await expect(holdfast.startSession({ workdir: home, key: 'telegram:4711' as never })).rejects.toMatchObject({
      code: 'key_taken',
    })
  })

  it('leaves nothing of a session that nobody spoke in', async () => {
    const { id } = await holdfast.startSession({ workdir: home })
    await holdfast.stopSession(id)
    await expect(holdfast.getSession(id)).rejects.toMatchObject({ code: 'session_not_found' })
  })

  it('refuses a session that another living process holds, until it is let go', async () => {
    const session = await holdfast.startSession({ workdir: home })
    await session.sendPrompt('list')
    await rested(session)
    const other = await open()
    await expect((await other.getSession(session.id)).sendPrompt('list')).rejects.toMatchObject({
      code: 'session_locked',
    })
    await holdfast.stopSession(session.id)
    await (await other.getSession(session.id)).sendPrompt('list')
    await other.close()
  })
})
