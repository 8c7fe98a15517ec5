import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Provider, Store } from '@holdfast/core/ports'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from './entry/index.ts'
import { createMemoryBlobs, createMemoryStore, openConversations } from './entry/store.ts'
import {
  aRequest,
  createGate,
  createScriptedModel,
  describeProvider,
  describeStore,
  fail,
  say,
  waitAt,
} from './entry/testkit.ts'

/** A store of a program: it counts appends, and outlives the runtime that uses it. */
function createCountingStore() {
  const inner = createMemoryStore()
  let appends = 0
  let closes = 0
  const store: Store = {
    ...inner,
    append(batch) {
      appends++
      return inner.append(batch)
    },
    async close() {
      closes++
    },
  }
  return { store, appends: () => appends, closes: () => closes }
}

let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'holdfast-own-store-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))
const environment = () => ({ HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off', DEMO_PACE: '0' })

describe('a store of the program', () => {
  it('holds the conversations of its loop', async () => {
    const { store, closes } = createCountingStore()
    const blobs = createMemoryBlobs()
    const first = await openConversations({ store, blobs, environment: environment(), workdir: home })
    first.addMessage('telegram:1', 'user', 'what is there?')
    await first.save('telegram:1')
    await first.close()
    expect(closes()).toBe(1)
    await using second = await openConversations({ store, blobs, environment: environment(), workdir: home })
    expect(await second.getHistory('telegram:1')).toEqual([{ role: 'user', content: 'what is there?' }])
  })

  it('gets a saved session with all its messages in one step: a crash after it loses none of them', async () => {
    const { store: inner, appends } = createCountingStore()
    let created = 0
    const store: Store = {
      ...inner,
      create: (session) => {
        created++
        return inner.create(session)
      },
      // What a process does after its end.
      append: async () => ({
        ok: false,
        fault: { code: 'storage_error', message: 'The process ended.', retryable: false },
      }),
    }
    const messages = Array.from({ length: 1000 }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `text ${index}`,
    }))
    const value = { id: 'bot:7', title: 'Ships', workspace: home, model: 'demo/agent', messages }
    await using first = await openHoldfast({ store, blobs: createMemoryBlobs(), environment: environment() })
    const session = await first.save(value)
    expect([created, appends()]).toEqual([1, 0])
    expect(await session.metadata()).toMatchObject({ key: 'bot:7', title: 'Ships', model: 'demo/agent' })
    expect((await session.messages()).flatMap((one) => ('text' in one ? [one.text] : []))).toEqual(
      messages.map(({ content }) => content),
    )
  })

  it('holds the sessions, is closed with the runtime, and can be opened again', async () => {
    const { store, appends, closes } = createCountingStore()
    const blobs = createMemoryBlobs()
    const first = await openHoldfast({ store, blobs, environment: environment() })
    const session = await first.startSession({ workdir: home, model: 'demo/agent' })
    expect(await session.prompt('count to 3').text()).toBe('1, 2, 3.')
    await first.close()
    expect(appends()).toBeGreaterThan(0)
    expect(closes()).toBe(1)

    await using second = await openHoldfast({ store, blobs, environment: environment() })
    const again = await second.getSession(session.id)
    expect((await again.messages()).map(({ kind }) => kind)).toContain('assistant')
    expect((await second.search('count')).hits.length).toBeGreaterThan(0)
    expect(second.dir()).toBeNull()
    await expect(second.doctor()).rejects.toThrow('your own store')
  })

  it('is refused if it lacks a method, has a mirror, or comes as blobs alone', async () => {
    const { append: _, purge: __, ...rest } = createMemoryStore()
    const open = (options: object) => openHoldfast({ environment: environment(), ...options })
    await expect(open({ store: rest })).rejects.toMatchObject({
      code: 'bad_request',
      message: 'The option store is not a store URL and not a Store: it has no append, purge.',
    })
    await expect(open({ store: createMemoryStore(), mirror: home })).rejects.toThrow('Only a SQLite store')
    await expect(open({ blobs: createMemoryBlobs() })).rejects.toThrow('needs a store of your own')
  })
})

describeStore('counting', async () => createCountingStore().store)

const gate = createGate()
const provider: Provider = createScriptedModel(({ system }) =>
  system === 'long' ? [say('Wait'), waitAt(gate)] : system === 'failing' ? [fail()] : [say('Hello.')],
)

describeProvider('scripted', async () => ({
  provider,
  plain: aRequest({ system: 'plain' }),
  long: aRequest({ system: 'long' }),
  failing: aRequest({ system: 'failing' }),
}))

describe('a provider of the program', () => {
  it('answers under the name it is given', async () => {
    await using holdfast = await openHoldfast({
      store: 'memory:',
      environment: environment(),
      models: { 'own/model': provider },
    })
    const session = await holdfast.startSession({ workdir: home, model: 'own/model' })
    expect(await session.prompt('hi').text()).toBe('Hello.')
  })
})
