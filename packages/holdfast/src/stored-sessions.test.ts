import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionOrName } from '@holdfast/client'
import { confirmSaved } from '@holdfast/client/internal'
import { createLocalSessions } from '@holdfast/core'
import { createFaultyStore, openTestRuntime } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Holdfast } from './holdfast.ts'
import { openHoldfast } from './open.ts'
import { createMemoryBlobs } from './store/blobs/memory-blobs.ts'
import { createMemoryStore } from './store/memory/memory-store.ts'

describe('stored sessions', () => {
  let home = ''
  let holdfast: Holdfast
  const environment = () => ({ HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] })
  beforeEach(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-stored-')))
    holdfast = await openHoldfast({ environment: environment() })
  })
  afterEach(async () => {
    await holdfast.close()
    await rm(home, { recursive: true, force: true })
  })
  const talk = async () => {
    const session = await holdfast.startSession({ workdir: home })
    await session.seedMessages([
      { role: 'user', content: 'what is there?' },
      { role: 'assistant', content: 'A ship.' },
    ])
    return session
  }

  it('read a session without loading it into memory, and reject its commands', async () => {
    const { id } = await talk()
    await holdfast.stopSession(id)
    const loaded = await holdfast.load(id)
    expect((await loaded.messages()).map((one) => ('text' in one ? one.text : ''))).toEqual([
      'what is there?',
      'A ship.',
    ])
    expect(await loaded.metadata()).toMatchObject({ id, title: 'what is there?', provider: 'demo' })
    expect(holdfast.listSessions()).toEqual([])
    const whole = loaded as Awaited<ReturnType<Holdfast['getSession']>> // as an untyped program could use it
    await expect(whole.sendPrompt('go on')).rejects.toMatchObject({ code: 'session_stopped' })
    expect(holdfast.listSessions()).toEqual([])
    await expect(holdfast.load('calm-harbor-999999')).rejects.toMatchObject({ code: 'session_not_found' })
  })

  it('save has nothing left to write', async () => {
    const session = await talk()
    await holdfast.save(session)
    await holdfast.save(session.id)
    await expect(holdfast.save('calm-harbor-999999')).rejects.toMatchObject({ code: 'session_not_found' })
  })

  it('save loads no session', async () => {
    const { id } = await talk()
    await holdfast.stopSession(id)
    await holdfast.save(id)
    expect(holdfast.listSessions()).toEqual([])
  })

  it('return the folder of the store, and the default folder', async () => {
    const data = join(home, 'data')
    expect([holdfast.dir(), holdfast.defaultDir()]).toEqual([data, data])
    for (const [store, dir] of [
      ['memory:', null],
      [`jsonl:${join(home, 'logs')}`, join(home, 'logs')],
      [`sqlite:${join(home, 'a.db')}`, home],
    ] as const) {
      const other = await openHoldfast({ environment: environment(), store })
      expect([other.dir(), other.defaultDir()]).toEqual([dir, data])
      await other.close()
    }
  })

  it('normalize the path of a workspace', async () => {
    await mkdir(join(home, 'work'))
    await symlink(join(home, 'work'), join(home, 'link'))
    for (const path of ['work', 'work/', 'link', 'link/../work'])
      expect(await holdfast.normalizeWorkspacePath(join(home, path))).toBe(join(home, 'work'))
    expect(await holdfast.normalizeWorkspacePath(`${home}/gone/`)).toBe(join(home, 'gone'))
    expect(await holdfast.currentWorkspacePath()).toBe(await realpath('.'))
  })

  it('return metadata only for a session with messages, and write nothing', async () => {
    const [silent, spoken] = [await holdfast.startSession({ workdir: home }), await talk()]
    expect(await holdfast.ensureMeta(silent.id)).toBeNull()
    expect(await holdfast.hasUserInteraction(silent)).toBe(false)
    expect(await holdfast.ensureMeta(spoken.id)).toMatchObject({ id: spoken.id, title: 'what is there?' })
    expect(await holdfast.hasUserInteraction(spoken)).toBe(true)
    await spoken.setHistory([])
    expect(await holdfast.hasUserInteraction(spoken.id)).toBe(true)
    expect((await holdfast.list()).sessions.map(({ id }) => id)).toEqual([spoken.id])
  })

  it("do not count a program's messages as user interaction", async () => {
    const session = await holdfast.startSession({ workdir: home })
    await session.seedMessages([{ role: 'assistant', content: 'Welcome.' }])
    expect(await holdfast.hasUserInteraction(session)).toBe(false)
  })

  it('export a session as markdown', async () => {
    const session = await talk()
    expect(await holdfast.exportSessionMarkdown(session)).toBe(await holdfast.exportMarkdown(session.id))
    expect(await holdfast.exportSessionMarkdown(session)).toContain('A ship.')
  })

  it("store a client's own events unchanged, once each, for other clients and no model", async () => {
    const session = await talk()
    const event = {
      eventId: 'ev-000000007',
      streamId: 's1',
      type: 'text',
      data: { id: 'm1', chunk: 'he', done: false },
    }
    const odd = { eventId: `"${'ö'.repeat(150)}`, type: 'text' }
    expect(await session.clientEventsComplete()).toBe(false)
    await holdfast.appendClientEvent(session.id, event)
    await holdfast.appendClientEvent(session.id, event)
    const other = holdfast.appendClientEvent(session.id, { ...event, data: 'another' })
    await expect(other).rejects.toMatchObject({ code: 'command_id_reused' })
    await session.appendClientEvent(odd, { complete: true })
    await session.appendClientEvent(odd)
    expect(await session.clientEventsComplete()).toBe(true)
    await session.sendPrompt('list')
    const stored: unknown[] = []
    for await (const frame of session.subscribe({ after: 0 })) {
      if (frame.type !== 'record') continue
      const recorded = frame.record.event
      if (recorded.type === 'client.said') stored.push(recorded.event)
      if (recorded.type === 'turn.ended' && recorded.turn === 1) break
    }
    expect(stored).toEqual([event, odd])
    expect((await Array.fromAsync(session.clientEvents())).map((one) => one.event)).toEqual([event, odd])
    const loaded = await holdfast.load(session.id)
    expect((await Array.fromAsync(loaded.clientEvents())).map((one) => one.event)).toEqual([event, odd])
    const words = (await session.messages()).map((one) => ('text' in one ? one.text : ''))
    expect(words.some((text) => text.includes('chunk'))).toBe(false)
    await expect(session.appendClientEvent({ eventId: '', type: 'x' })).rejects.toMatchObject({ code: 'bad_request' })
  })

  it('accept a call and its result one after the other', async () => {
    const session = await talk()
    const toolCalls = [{ id: 'a', tool: 'look', args: {} }]
    await holdfast.appendMessage(session.id, { role: 'assistant', content: 'Let me see.', toolCalls })
    await holdfast.appendMessage(session.id, { role: 'tool', toolCallId: 'a', content: 'a ship' })
    const call = (await session.messages()).find(({ kind }) => kind === 'tool_call')
    expect(call).toMatchObject({ call: { tool: 'look', status: 'complete', result: { text: 'a ship' } } })
    const orphan = { role: 'tool' as const, toolCallId: 'a', content: 'again' }
    await expect(holdfast.appendMessage(session.id, orphan)).rejects.toMatchObject({ code: 'bad_request' })
    expect(await session.metadata()).toMatchObject({ turnCount: 1 })
  })
})

describe('a store that refuses writes', () => {
  it('makes save reject until it accepts writes again', async () => {
    const inner = createMemoryStore()
    const lookups: unknown[] = []
    const entry: typeof inner.entry = async (session) => {
      lookups.push(session)
      return inner.entry(session)
    }
    const store = createFaultyStore({ ...inner, entry })
    const { registry, handle, clock } = await openTestRuntime({ store, blobs: createMemoryBlobs() })
    const save = (session: SessionOrName) => confirmSaved(createLocalSessions(registry), session)
    await save(handle.id)
    store.breakDown()
    expect(await handle.submit({ type: 'addSystemMessage', text: 'full' })).toMatchObject({ ok: false })
    const refused = { code: 'storage_error', details: { session: handle.id } }
    await expect(save(handle)).rejects.toMatchObject(refused)
    lookups.length = 0
    await expect(save(handle.id)).rejects.toMatchObject(refused)
    expect(lookups).toEqual([]) // it is loaded
    store.heal()
    expect(await handle.submit({ type: 'addSystemMessage', text: 'room' })).toMatchObject({ ok: true })
    clock.advance(1000) // the store is tried again
    await vi.waitFor(() => save(handle))
    await registry.close()
  })
})

describe('a session', () => {
  it('returns its provider and address, but never the key', async () => {
    const home = await mkdtemp(join(tmpdir(), 'holdfast-provider-'))
    const environment = {
      HOLDFAST_HOME: home,
      OPENAI_API_KEY: 'sk-secret',
      OPENAI_BASE_URL: 'https://models.example:8443/v1',
    }
    const holdfast = await openHoldfast({ store: 'memory:', environment })
    const session = await holdfast.startSession({ workdir: home, model: 'openai/gpt-x', persist: false })
    const inUse = await session.getProvider()
    expect(inUse).toEqual({
      provider: 'openai',
      model: 'openai/gpt-x',
      endpoint: 'https://models.example:8443/v1',
      abilities: { contextTokens: null, files: null, thinkingLevels: null }, // of an unknown model
    })
    expect(JSON.stringify(inUse)).not.toMatch(/secret|hunter2/)
    expect(await (await holdfast.load(session.id)).getProvider()).toEqual(inUse)
    await session.setModel('openai/gpt-6-astra')
    const { abilities } = await (await holdfast.load(session.id)).getProvider()
    expect(abilities).toEqual((await session.getProvider()).abilities)
    expect(abilities.contextTokens).toBeGreaterThan(0)
    await session.setModel('demo/agent')
    expect(await session.getProvider()).toMatchObject({ provider: 'demo', endpoint: null })
    expect(await session.isPersistent()).toBe(false)
    expect(await (await holdfast.startSession({ workdir: home })).isPersistent()).toBe(true)
    await holdfast.close()
    await rm(home, { recursive: true, force: true })
  })
})

describe('a title model', () => {
  it('titles a session after its first turn, and must exist', async () => {
    const home = await mkdtemp(join(tmpdir(), 'holdfast-title-'))
    const environment = { HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] }
    const opening = openHoldfast({ store: 'memory:', environment, titleModel: 'nobody/knows' })
    await expect(opening).rejects.toMatchObject({ code: 'unknown_model' })
    const holdfast = await openHoldfast({ store: 'memory:', environment, titleModel: 'demo/agent' })
    const session = await holdfast.startSession({ workdir: home })
    await session.sendPrompt('list the files')
    for await (const frame of session.subscribe({ after: 0 }))
      if (frame.type === 'record' && frame.record.event.type === 'settings.changed') break
    expect((await session.metadata()).title).toBe('Demo: list the files')
    await holdfast.close()
    await rm(home, { recursive: true, force: true })
  })
})
