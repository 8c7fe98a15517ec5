import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foldNumber } from '@holdfast/core'
import type { Blobs, Store } from '@holdfast/core/ports'
import { orThrow } from '@holdfast/protocol'
import { createScriptedModel, say } from '@holdfast/testkit'
import { describeStore } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../../open.ts'
import { createMemoryBlobs } from '../blobs/memory-blobs.ts'
import { createMemoryStore } from '../memory/memory-store.ts'
import { openStorage } from './open-storage.ts'

/** Returns an instance of a class, whose methods are on its prototype and need `this`. */
function instanceOf<Port extends object>(port: Port): Port {
  class Wrapped {
    readonly wrapped = port
  }
  for (const name of Object.keys(port)) {
    if (typeof Reflect.get(port, name) !== 'function') continue
    Object.defineProperty(Wrapped.prototype, name, {
      value(this: Wrapped, ...args: unknown[]) {
        return Reflect.apply(Reflect.get(this.wrapped, name) as () => unknown, this.wrapped, args) // found above
      },
    })
  }
  return new Wrapped() as unknown as Port // has all its methods
}

const createStore = (): Store => instanceOf(createMemoryStore())
const createBlobs = (): Blobs => instanceOf(createMemoryBlobs())

describeStore('own class', async () => {
  const home = { storePath: '/nowhere', blobsDir: '/nowhere' } // not used
  return orThrow(await openStorage({ store: createStore(), home, onProblem: () => {} })).store
})

describe('a store that is an instance of a class', () => {
  let home = ''
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-own-store-'))
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  it('keeps sessions, snapshots, files and tokens', async () => {
    const problems: unknown[] = []
    const store = createStore()
    const holdfast = await openHoldfast({
      store,
      blobs: createBlobs(),
      environment: { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off' },
      models: { 'own/model': createScriptedModel([[say('Hello.')]]) },
      onProblem: (problem) => problems.push(problem),
    })
    const session = await holdfast.startSession({ workdir: home, model: 'own/model', key: 'bot:1' })
    expect(await session.prompt('hi').text()).toBe('Hello.')
    const created = await holdfast.tokens.create({ name: 'phone', role: 'driver' })
    expect((await holdfast.tokens.list()).map(({ name }) => name)).toEqual(['phone'])
    await holdfast.tokens.revoke(created.id)
    await holdfast.stopSession(session.id)
    expect(await store.loadSnapshot(session.id, foldNumber)).not.toBeNull()
    await holdfast.close()
    expect(problems).toEqual([])
  })
})
