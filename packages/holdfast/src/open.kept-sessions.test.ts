import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Session } from '@holdfast/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from './holdfast.ts'
import { openHoldfast } from './open.ts'

describe.each(['sqlite', 'jsonl'])('a session without a prompt in a store of kind %s', (kind) => {
  let home = ''
  let holdfast: Holdfast

  const open = () => openHoldfast({ environment: { HOLDFAST_HOME: home }, store: `${kind}:${join(home, 'store')}` })
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-kept-'))
    holdfast = await open()
  })
  afterEach(async () => {
    await holdfast.close()
    await rm(home, { recursive: true, force: true })
  })
  async function reopen(): Promise<void> {
    await holdfast.close()
    holdfast = await open()
  }

  const commands: Record<string, (session: Session) => Promise<unknown>> = {
    pinSession: (session) => session.pinSession(),
    rename: (session) => session.rename('Mine'),
    enterPlan: (session) => session.enterPlan(),
    addSystemMessage: (session) => session.addSystemMessage('A word.'),
    appendClientEvent: (session) => session.appendClientEvent({ eventId: 'one', type: 'cursor' }),
  }

  it('keeps every acknowledged command when it is unloaded, and when the process stops', async () => {
    const given = await Promise.all(
      Object.entries(commands).map(async ([name, send]) => {
        const session = await holdfast.startSession({ workdir: home })
        await send(session)
        return { name, id: session.id, metadata: await session.metadata(), events: await session.messages() }
      }),
    )
    const same = async (when: string) => {
      for (const { name, id, metadata, events } of given) {
        const session = await holdfast.getSession(id)
        expect([await session.metadata(), await session.messages()], `${name} ${when}`).toEqual([metadata, events])
      }
      expect((await holdfast.list()).sessions).toHaveLength(given.length)
    }
    for (const { id } of given) await holdfast.stopSession(id)
    await same('after it was unloaded')
    await reopen()
    await same('after the process stopped')
  })

  it('keeps its key, its title and its parent', async () => {
    const first = await holdfast.getOrCreate('bot:1', { workdir: home })
    const titled = await holdfast.startSession({ workdir: home, title: 'Mine' })
    const child = await holdfast.startSession({ workdir: home, parent: first.id })
    await holdfast.stopSession(first.id)
    expect((await holdfast.getOrCreate('bot:1', { workdir: home })).id).toBe(first.id)
    await reopen()
    expect((await holdfast.getOrCreate('bot:1', { workdir: home })).id).toBe(first.id)
    expect((await (await holdfast.getSession(titled.id)).metadata()).title).toBe('Mine')
    expect((await (await holdfast.getSession(child.id)).metadata()).parent).toBe(first.id)
  })

  it('leaves nothing behind after a plain start', async () => {
    const { id } = await holdfast.startSession({ workdir: home })
    await holdfast.stopSession(id)
    await expect(holdfast.getSession(id)).rejects.toMatchObject({ code: 'session_not_found' })
    const second = await holdfast.startSession({ workdir: home })
    expect((await holdfast.list()).sessions).toEqual([])
    await reopen()
    await expect(holdfast.getSession(second.id)).rejects.toMatchObject({ code: 'session_not_found' })
  })
})
