import {
  type Frame,
  type FrameOf,
  HoldfastError,
  orThrow,
  refuse,
  type SessionHandle,
  type SubscribeOptions,
} from '@holdfast/protocol'
import {
  aSession,
  aTool,
  call,
  createFaultyStore,
  createGate,
  diskFull,
  isRecord,
  say,
  waitAt,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryBlobs, createMemoryStore, openMemoryRuntime } from '../testing/memory-runtime.ts'
import { createLocalSession } from './api/local-session.ts'

const prompt = { type: 'sendPrompt', content: 'go' } as const
const idle = isRecord('turn.ended')
const tellWithinMs = 1000
const stepMs = 10
const error = { reason: 'disk_full', message: diskFull.message }
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** Follows the session and collects its storage errors. */
async function follow(handle: SessionHandle, options: SubscribeOptions = {}) {
  const errors: FrameOf<'storage'>['error'][] = []
  const frames = handle.subscribe(options)[Symbol.asyncIterator]()
  const first = await frames.next()
  const take = (frame: Frame) => void (frame.type === 'storage' && errors.push(frame.error))
  if (!first.done) take(first.value)
  const following = (async () => {
    for (let next = await frames.next(); !next.done; next = await frames.next()) take(next.value)
  })()
  return { first: first.value, errors, following }
}

async function openOnFaultyStore(options: Omit<Parameters<typeof openMemoryRuntime>[0], 'store'> = {}) {
  const store = createFaultyStore(createMemoryStore())
  const runtime = await openMemoryRuntime({ ...options, store })
  const pass = async (ms: number) => {
    runtime.clock.advance(ms)
    await settled()
  }
  /** Advances the clock in small steps until `holds` is true; returns the time, or null after a second. */
  const passUntil = async (holds: () => boolean): Promise<number | null> => {
    for (let passedMs = 0; passedMs <= tellWithinMs; passedMs += stepMs) {
      if (holds()) return passedMs
      await pass(stepMs)
    }
    return null
  }
  return { ...runtime, store, pass, passUntil }
}

describe('a disk that refuses writes', () => {
  it('is reported to all clients at once, and so is its recovery', async () => {
    const runtime = await openOnFaultyStore()
    const [one, two] = [await follow(runtime.handle), await follow(runtime.handle)]
    runtime.store.breakDown()
    await runtime.send('a', { type: 'enterPlan' })
    await settled()
    expect([one.errors, two.errors]).toEqual([[error], [error]])
    await runtime.pass(500)
    runtime.store.heal()
    await runtime.pass(500)
    expect([one.errors, two.errors]).toEqual([
      [error, null],
      [error, null],
    ])
  })

  it.each([0, 10, 490, 500, 770, 1500])(
    'is reported within a second of the first refused write, and so is space that is freed %i ms later',
    async (fullMs) => {
      const gate = createGate()
      const slow = aTool(
        'slow',
        async (_, __, { begin }) => {
          await begin()
          await gate.pass()
          return { type: 'ok', output: { text: 'done' } }
        },
        false,
      )
      const runtime = await openOnFaultyStore({ script: [[call('slow', {})], [say('Done.')]], tools: [slow] })
      const both = [await follow(runtime.handle), await follow(runtime.handle)]
      const isTold = (what: typeof error | null) => () =>
        both.every(({ errors }) => JSON.stringify(errors.at(-1)) === JSON.stringify(what))
      await runtime.send('a', prompt)
      await gate.reached
      runtime.store.breakDown()
      gate.open() // the result of the tool is the first refused write
      expect(await runtime.passUntil(isTold(error))).not.toBeNull()
      for (let passedMs = 0; passedMs < fullMs; passedMs += stepMs) await runtime.pass(stepMs)
      runtime.store.heal()
      expect(await runtime.passUntil(isTold(null))).not.toBeNull()

      await runtime.frame(idle)
      runtime.store.breakDown()
      await runtime.send('b', prompt)
      expect(await runtime.passUntil(isTold(error))).not.toBeNull()
      for (let passedMs = 0; passedMs < fullMs; passedMs += stepMs) await runtime.pass(stepMs)
      runtime.store.heal()
      expect(await runtime.passUntil(isTold(null)), 'though nothing is owed').not.toBeNull()
    },
  )

  it('is reported to the clients of every session, also to new ones', async () => {
    const runtime = await openOnFaultyStore()
    const other = createLocalSession(runtime.registry, orThrow(await runtime.registry.start({ workdir: '/other' })).id)
    const [one, two] = [await follow(runtime.handle), await follow(other)]
    runtime.store.breakDown()
    await runtime.send('a', prompt)
    await settled()
    expect([one.errors, two.errors]).toEqual([[error], [error]])
    expect((await follow(other)).first).toMatchObject({ here: { storageError: error } })
    runtime.store.heal()
    await runtime.pass(500)
    expect([one.errors, two.errors]).toEqual([
      [error, null],
      [error, null],
    ])
  })

  it('is reported in the snapshot of new clients and in a frame to returning ones', async () => {
    const runtime = await openOnFaultyStore()
    const returner = async () => (await follow(runtime.handle, { after: 1 })).errors
    expect([(await follow(runtime.handle)).first, await returner()]).toMatchObject([
      { here: { storageError: null } },
      [null],
    ])
    runtime.store.breakDown()
    await runtime.send('a', prompt)
    expect([(await follow(runtime.handle)).first, await returner()]).toMatchObject([
      { here: { storageError: error } },
      [error],
    ])
  })

  it('refuses a prompt with the reason and a hint, and accepts it once there is space', async () => {
    const runtime = await openOnFaultyStore({ script: [[say('Hi.')]] })
    runtime.store.breakDown()
    const refused = await runtime.send('a', prompt)
    expect(refused).toMatchObject({
      fault: { code: 'storage_error', details: { reason: 'disk_full' }, message: expect.stringMatching(/full.*again/) },
    })
    expect(await runtime.events()).toEqual(['session.started'])
    runtime.store.heal()
    expect(await runtime.send('a', prompt)).toMatchObject({ ok: true })
    await runtime.frame(idle)
  })

  it('is detected by the draft autosave, and the answer stays complete', async () => {
    const gate = createGate()
    const runtime = await openOnFaultyStore({ script: [[say('Hel'), waitAt(gate), say('lo.')]] })
    const one = await follow(runtime.handle)
    await runtime.send('a', prompt)
    await gate.reached
    runtime.store.breakDown()
    await runtime.pass(1000)
    expect(one.errors).toEqual([error])
    gate.open()
    await runtime.pass(500)
    runtime.store.heal()
    await runtime.pass(500)
    await runtime.frame(idle)
    const records = await runtime.store.read(aSession, { after: 0, limit: 100 })
    const texts = records.flatMap((record) =>
      'event' in record && record.event.type === 'text.said' ? [record.event.text] : [],
    )
    expect([texts.join(''), one.errors]).toEqual(['Hello.', [error, null]])
  })

  it('does not run a tool again whose outcome was refused, and ends the turn on recovery', async () => {
    const gate = createGate()
    let runs = 0
    const touch = aTool(
      'touch',
      async (_, __, { begin }) => {
        await begin()
        runs += 1
        await gate.pass()
        return { type: 'ok', output: { text: 'done' } }
      },
      false,
    )
    const runtime = await openOnFaultyStore({ script: [[call('touch', {})], [say('Done.')]], tools: [touch] })
    const one = await follow(runtime.handle)
    await runtime.send('a', prompt)
    await gate.reached
    runtime.store.breakDown()
    gate.open()
    await settled()
    await runtime.pass(500)
    expect(one.errors).toEqual([error])
    runtime.store.heal()
    await runtime.pass(500)
    await runtime.frame(idle)
    expect([runs, one.errors]).toEqual([1, [error, null]])
    expect((await runtime.events()).filter((type) => type.startsWith('call.'))).toEqual([
      ...['call.requested', 'call.approved', 'call.started', 'call.settled'],
    ])
  })

  it('delays a turn whose instructions cannot be stored yet', async () => {
    const inner = createMemoryBlobs()
    let isFull = true
    const blobs: typeof inner = { ...inner, put: async (bytes) => (isFull ? refuse(diskFull) : inner.put(bytes)) }
    const runtime = await openOnFaultyStore({ blobs, script: [[say('Hi.')]] })
    const one = await follow(runtime.handle)
    await runtime.send('a', prompt)
    await settled()
    expect(one.errors).toEqual([error])
    isFull = false
    await runtime.pass(500)
    expect(await runtime.frame(idle)).toMatchObject({ record: { event: { reason: 'done' } } })
    expect(one.errors).toEqual([error, null])
  })

  it('prevents loading a session; subscribers get the reason and when to retry', async () => {
    const gate = createGate()
    const runtime = await openOnFaultyStore({ script: [[waitAt(gate)]] })
    await runtime.send('a', prompt)
    await gate.reached
    runtime.store.breakDown()
    runtime.store.release = () => Promise.reject(new HoldfastError(diskFull)) // a release is a write too
    await expect(runtime.registry.unload(aSession)).rejects.toThrow(diskFull.message)
    const frames: Frame[] = []
    for await (const frame of runtime.handle.subscribe()) frames.push(frame)
    expect(frames).toEqual([
      { type: 'storage', sessionId: aSession, error },
      { type: 'end', sessionId: aSession, reason: 'failed', retryMs: 500 },
    ])
    expect(await runtime.send('b', prompt)).toMatchObject({ fault: { message: expect.stringMatching(/full.*again/) } })
    runtime.store.heal()
    expect((await follow(runtime.handle)).first).toMatchObject({ here: { storageError: null } })
  })
})
