import type { NewSession } from '@holdfast/core/ports'
import { done, fault, refuse } from '@holdfast/protocol'
import { newSession } from '@holdfast/testkit/contracts'
import { describe, expect, it } from 'vitest'
import type { PortWriter } from '../../../store/sqlite/worker/port-writer.ts'
import type { ImportHost } from '../host/import-host.ts'
import { createDirectHost } from './direct-host.ts'

const taken = refuse(fault('key_taken', 'The key is taken.'))

/** Creates a host that records what is asked and written; the second of the asked sessions has a taken name. */
function openDirectHost(memoryUsed: number) {
  const asked: number[] = []
  const written: NewSession[] = []
  const write = async (session: NewSession) => {
    written.push(session)
    return done
  }
  const host: Partial<ImportHost> = {
    async checkNames(sessions) {
      asked.push(sessions.length)
      return sessions.map((_, index) => (index === 1 ? taken : done))
    },
  }
  const writer: PortWriter = {
    create: write,
    append: async () => done,
    createOnce: async (session, allowed) => {
      const answer = await allowed
      return answer.ok ? write(session) : answer
    },
    close: () => undefined,
  }
  // Only the methods that a whole session needs.
  const direct = createDirectHost(host as ImportHost, writer, Int32Array.of(memoryUsed))
  return { asked, written, createAll: () => Promise.all([1, 2, 3].map((one) => direct.create(newSession(one), true))) }
}

describe('an import that writes to the store itself', () => {
  it('asks the main thread for no name while no session is in memory', async () => {
    const { asked, written, createAll } = openDirectHost(0)
    expect(await createAll()).toEqual([done, done, done])
    expect([asked, written.length]).toEqual([[], 3])
  })

  it('asks for the names of several sessions at once, and does not write one that is refused', async () => {
    const { asked, written, createAll } = openDirectHost(1)
    expect(await createAll()).toEqual([done, taken, done])
    expect([asked, written.length]).toEqual([[3], 2])
  })
})
