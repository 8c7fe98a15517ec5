import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Attachment, attach, connectSessions, createLiveView, createSession } from '@holdfast/client'
import { type Frame, HoldfastError, orThrow, type Role, type Sessions } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from './holdfast.ts'
import { openHoldfast } from './open.ts'
import { hashToken, openServer } from './server/index.ts'

describe.each(['here', 'across the network'])('an attachment %s', (where) => {
  let home = ''
  let holdfast: Holdfast
  let sessions: Sessions
  const closing: (() => Promise<unknown>)[] = []

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-attachment-'))
    const environment = { HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] }
    holdfast = await openHoldfast({ store: 'memory:', environment })
    closing.push(() => holdfast.close())
    sessions = holdfast.handles
    if (where === 'here') return
    const token = 'a'.repeat(30)
    const tokens = [{ hash: hashToken(token), role: 'admin' as const }]
    const options = { host: '127.0.0.1', port: 0, tokens, pageDir: null, version: '0', now: Date.now }
    const server = orThrow(await openServer({ ...options, sessions: holdfast.handles, onProblem: () => undefined }))
    closing.unshift(() => server.close())
    sessions = connectSessions({ url: server.url, token })
  })
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
    await rm(home, { recursive: true, force: true })
  })

  const start = async (prompt: string, model = 'demo/agent') => {
    const session = await holdfast.startSession({ workdir: home, model })
    await session.seedMessages([
      { role: 'user', content: prompt },
      { role: 'assistant', content: `of ${prompt}` },
    ])
    return session
  }
  const textsOf = (frame: Frame | undefined) =>
    frame?.type === 'snapshot' ? frame.messages.map((message) => ('text' in message ? message.text : '')) : []

  /** Reads frames one at a time, and stops. */
  const framesOf = (attachment: Attachment) => {
    const closed = new AbortController()
    const frames = attachment.handle.subscribe({ signal: closed.signal })[Symbol.asyncIterator]()
    const next = async (fits: (frame: Frame) => boolean): Promise<Frame | undefined> => {
      for (;;) {
        const { value, done } = await frames.next()
        if (done || fits(value)) return done ? undefined : value
      }
    }
    const end = async () => {
      closed.abort()
      await frames.return?.(undefined)
    }
    closing.unshift(end)
    return { next, end }
  }
  const isSnapshot = ({ type }: Frame) => type === 'snapshot'
  const roleIn = async (name: string, client: string): Promise<Role | null> =>
    (await holdfast.getSession(name)).subscriberRole(client)

  it('moves to a stored session with its history, branches and metadata, in the same role', async () => {
    const [one, two] = [await start('one'), await start('two')]
    await two.setHistory([{ role: 'user', content: 'two anew' }])
    const attachment = await attach(sessions, one.id, { client: 'editor' })
    const { next } = framesOf(attachment)
    expect(textsOf(await next(isSnapshot))).toEqual(['one', 'of one'])
    expect(await roleIn(one.id, 'editor')).toBe('driver')

    const loaded = await attachment.loadSession(two.id)
    const snapshot = await next(isSnapshot)
    expect(snapshot).toMatchObject({ sessionId: two.id })
    expect(textsOf(snapshot)).toEqual(['two anew'])
    expect(attachment.session.id).toBe(two.id)
    expect(attachment.handle.id).toBe(two.id)
    expect(await loaded.listBranches()).toHaveLength(1)
    expect((await loaded.metadata()).title).toBe('two anew')
    expect(await roleIn(two.id, 'editor')).toBe('driver')
    expect((await (await holdfast.getSession(one.id)).messages()).length).toBe(2) // the old session is unchanged

    await attachment.session.seedMessages([{ role: 'user', content: 'more' }], { as: 'editor' })
    const said = await next((frame) => frame.type === 'record' && frame.record.event.type === 'user.said')
    expect(said).toMatchObject({ record: { event: { content: [{ text: 'more' }] } } })
  })

  it('becomes a viewer if another client drives, or if it was a viewer before', async () => {
    const [one, two, three] = [await start('one'), await start('two'), await start('three')]
    const other = framesOf(await attach(sessions, two.id, { client: 'other' }))
    await other.next(isSnapshot)
    const attachment = await attach(sessions, one.id, { client: 'editor' })
    const { next } = framesOf(attachment)
    await next(isSnapshot)
    await attachment.loadSession(two.id)
    await next(isSnapshot)
    expect([await roleIn(two.id, 'other'), await roleIn(two.id, 'editor')]).toEqual(['driver', 'viewer'])
    await attachment.loadSession(three.id)
    await next(isSnapshot)
    expect(await roleIn(three.id, 'editor')).toBe('viewer')
  })

  it('starts a new session in the same folder with the same model', async () => {
    const one = await start('one')
    await one.setThinkingLevel('high')
    const attachment = await attach(sessions, one.id, { client: 'editor' })
    const { next } = framesOf(attachment)
    await next(isSnapshot)
    const begun = await attachment.newSession()
    expect(begun.id).not.toBe(one.id)
    expect(textsOf(await next(isSnapshot))).toEqual([])
    expect(await begun.metadata()).toMatchObject({ workspace: (await one.metadata()).workspace, model: 'demo/agent' })
    expect(await roleIn(begun.id, 'editor')).toBe('driver')
    expect((await holdfast.list()).sessions.map(({ id }) => id)).toContain(one.id)
  })

  it('does not leave a running turn unless it may abort it', async () => {
    const [one, two] = [await holdfast.startSession({ workdir: home }), await start('two')]
    await one.sendPrompt('run sleep 100') // waits for an approval
    const attachment = await attach(sessions, one.id, { client: 'editor' })
    const { next } = framesOf(attachment)
    await next((frame) => frame.type === 'record' || isSnapshot(frame))
    await expect(attachment.loadSession(two.id)).rejects.toMatchObject({ code: 'turn_running' })
    await expect(attachment.newSession()).rejects.toMatchObject({ code: 'turn_running' })
    expect(attachment.session.id).toBe(one.id)
    await attachment.loadSession(two.id, { running: 'abort' })
    expect(await next((frame) => frame.type === 'snapshot' && frame.sessionId === two.id)).toBeDefined()
    expect(await one.status()).toBe('idle')
  })

  it('stays if the session does not exist', async () => {
    const one = await start('one')
    const attachment = await attach(sessions, one.id)
    await expect(attachment.loadSession('calm-harbor-999999')).rejects.toMatchObject({ code: 'session_not_found' })
    expect(attachment.session.id).toBe(one.id)
    expect((await attachment.loadSession(one.id)).id).toBe(one.id)
  })

  it('moves with its live view', async () => {
    const [one, two] = [await start('one'), await start('two')]
    const attachment = await attach(sessions, one.id, { client: 'editor' })
    const view = createLiveView(attachment.handle, { client: attachment.client })
    closing.unshift(async () => view.close())
    const until = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (view.messages.some((message) => 'text' in message && message.text === text)) resolve()
        }
        view.subscribe(look)
        look()
      })
    await until('of one')
    await attachment.loadSession(two.id)
    await until('of two')
    expect(view.meta?.id).toBe(two.id)
    expect(view.messages).toHaveLength(2)
  })

  const sessionAt = async (name: string) => createSession(orThrow(await sessions.open(name)))
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'ok',
      (error: unknown) => (error instanceof HoldfastError ? error.code : String(error)),
    )

  it('can be taken by a session: at once, bound to the client, until it detaches', async () => {
    const { id } = await start('one')
    const anna = await (await sessionAt(id)).attach({ client: 'anna' })
    const ben = await (await sessionAt(id)).attach({ client: 'ben', role: 'viewer' })
    expect([anna.client, anna.role, ben.client, ben.role]).toEqual(['anna', 'driver', 'ben', 'viewer'])
    expect([await roleIn(id, 'anna'), await roleIn(id, 'ben')]).toEqual(['driver', 'viewer'])
    await anna.rename('by anna')
    expect((await ben.metadata()).title).toBe('by anna')
    expect(await codeOf(ben.rename('by ben'))).toBe('not_driver')
    expect(await codeOf(ben.sendPrompt('list'))).toBe('not_driver')
    expect(await codeOf(ben.as('anna').rename('by ben'))).toBe('bad_request')
    await anna.detach()
    expect(await codeOf(anna.rename('again'))).toBe('not_subscribed')
    expect(await roleIn(id, 'anna')).toBeNull()
    await ben.detach()
  })

  it('of a viewer may abort and claim if its token or the program lets it drive', async () => {
    const { id } = await start('one')
    const anna = await (await sessionAt(id)).attach({ client: 'anna' })
    const ben = await (await sessionAt(id)).attach({ client: 'ben', role: 'viewer', mayDrive: true })
    await anna.sendPrompt('run sleep 100') // waits for an approval
    await ben.abort()
    expect(await codeOf(ben.claimDriver())).toBe('driver_taken')
    await ben.claimDriver({ takeOver: true })
    expect([await roleIn(id, 'anna'), await roleIn(id, 'ben')]).toEqual(['viewer', 'driver'])
    await ben.rename('by ben')
    await ben.detach()
    await anna.detach()
  })

  it('cannot widen its rights or change its client', async () => {
    const { id } = await start('one')
    const anna = await (await sessionAt(id)).attach({ client: 'anna' })
    const ben = await (await sessionAt(id)).attach({ client: 'ben', role: 'viewer' })
    const read = async (given: AsyncIterable<Frame>) => given[Symbol.asyncIterator]().next()
    expect(await codeOf(ben.attach({ role: 'viewer', mayDrive: true }))).toBe('not_driver')
    expect(await codeOf(ben.attach({ client: 'cleo' }))).toBe('bad_request')
    expect(await codeOf(ben.as('cleo').attach())).toBe('bad_request')
    expect(await codeOf(read(ben.subscribe({ mayDrive: true })))).toBe('not_driver')
    expect(await codeOf(read(ben.subscribe({ client: 'cleo' })))).toBe('bad_request')
    expect(await codeOf(anna.attach({ mayDrive: true }))).toBe('not_driver')
    await anna.detach()
    expect(await codeOf(ben.attach({ role: 'driver' }))).toBe('not_driver')
    expect(await codeOf(read(ben.subscribe({ role: 'driver' })))).toBe('not_driver')
    expect(await codeOf(anna.attach())).toBe('not_subscribed')
    expect(await roleIn(id, 'ben')).toBe('viewer')
    expect(await roleIn(id, 'cleo')).toBeNull()
    // It keeps what it has, also without naming it.
    expect((await ben.attach()).role).toBe('viewer')
    await holdfast.stopSession(id)
    expect((await ben.attach()).role).toBe('viewer')
  })

  it('keeps the right to drive that it was attached with', async () => {
    const { id } = await start('one')
    const ben = await (await sessionAt(id)).attach({ client: 'ben', role: 'viewer', mayDrive: true })
    const again = await ben.attach({ role: 'driver', mayDrive: true })
    expect(again.role).toBe('driver')
    const anna = await (await sessionAt(id)).attach({ client: 'anna', mayDrive: true })
    await anna.claimDriver({ takeOver: true })
    await again.claimDriver({ takeOver: true })
    expect(await codeOf(again.attach({ client: 'anna' }))).toBe('bad_request')
    for (const one of [again, ben, anna]) await one.detach()
  })

  it('ends with detach while a turn is followed, and the turn is still followed to its end', async () => {
    const { id } = await start('one')
    const anna = await (await sessionAt(id)).attach({ client: 'anna' })
    const turn = anna.prompt('run sleep 100') // waits for an approval
    const items = turn[Symbol.asyncIterator]()
    await items.next()
    await anna.detach()
    expect(await roleIn(id, 'anna')).toBeNull()
    const ben = await (await sessionAt(id)).attach({ client: 'ben' })
    expect(ben.role).toBe('driver')
    await ben.abort()
    expect(await turn.result()).toMatchObject({ reason: 'aborted' })
    expect(await roleIn(id, 'anna')).toBeNull()
    await items.return?.(undefined)
    await ben.detach()
  })

  it('ends its subscriptions with detach, and takes no seat by subscribing again', async () => {
    const { id } = await start('one')
    const anna = await (await sessionAt(id)).attach({ client: 'anna' })
    const frames = anna.subscribe()[Symbol.asyncIterator]()
    const unread = anna.subscribe()
    await frames.next()
    await anna.detach()
    expect(await roleIn(id, 'anna')).toBeNull()
    for (let next = await frames.next(); !next.done; next = await frames.next())
      expect(next.value.type).not.toBe('record')
    const read = async (given: AsyncIterable<Frame>) => given[Symbol.asyncIterator]().next()
    expect(await codeOf(read(anna.subscribe()))).toBe('not_subscribed')
    expect(await codeOf(read(anna.as('anna').subscribe()))).toBe('not_subscribed')
    expect(await codeOf(read(unread))).toBe('not_subscribed')
    expect(await roleIn(id, 'anna')).toBeNull()
  })

  it('is refused for a bad name', async () => {
    const { id } = await start('one')
    expect(await codeOf((await sessionAt(id)).attach({ client: 'a b' }))).toBe('bad_request')
    expect(await codeOf((await sessionAt(id)).attach({ role: 'pilot' as 'viewer' }))).toBe('invalid_role')
  })

  it('sends the commands of its own session in its name', async () => {
    const one = await start('one')
    const first = framesOf(await attach(sessions, one.id, { client: 'first' }))
    await first.next(isSnapshot)
    const second = await attach(sessions, one.id, { client: 'second' })
    const { next } = framesOf(second)
    await next(isSnapshot)
    expect(await codeOf(second.session.rename('by the second'))).toBe('not_driver')
    expect(await codeOf(second.session.attach({ mayDrive: true }))).toBe('not_driver')
    expect(await codeOf(second.session.attach({ client: 'first' }))).toBe('bad_request')
    expect(await codeOf(second.session.rename('by the first', { as: 'first' }))).toBe('bad_request')
  })
})
