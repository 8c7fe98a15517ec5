import { createSession, type Session } from '@holdfast/client'
import { createLocalSession, createSessionRegistry } from '@holdfast/core'
import type { Tool } from '@holdfast/core/ports'
import { createRequestBuilder } from '@holdfast/core/requests'
import { invariant, type ModelName, ok, orThrow, type Recorded } from '@holdfast/protocol'
import { aTool, fakeFiles, fakePermissions, modelsWith, validateHistory } from '@holdfast/testkit'
import { createMemoryBlobs } from '../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../packages/holdfast/src/store/memory/memory-store.ts'
import { newSessionId } from '../../packages/holdfast/src/system/identity.ts'
import { createAdapter } from './adapter.ts'
import { createFastClock } from './fast-clock.ts'
import { serviceOf } from './scripted-session.ts'
import { cases } from './services.ts'
import { listStepInputs, recordsOf } from './step-inputs.ts'

/** A session whose service misbehaves. */
export type ChaosSession = AsyncDisposable & {
  readonly session: Session
  /** Unexpected errors. */
  readonly problems: readonly unknown[]
  /** Counts the runs of its tool. */
  ran(): number
  records(): Promise<readonly Recorded[]>
  /** Lists rule violations: of each request by its service, and of the last one by every service. */
  complaints(): Promise<readonly string[]>
}

/** Uses the real runtime, adapters and network, with a fast clock. */
export async function openChaosSession(url: string, model: ModelName): Promise<ChaosSession> {
  const clock = createFastClock()
  const store = createMemoryStore()
  const blobs = createMemoryBlobs()
  const problems: unknown[] = []
  let runs = 0
  const count: Tool['run'] = async (_, __, { begin }) => {
    await begin()
    runs += 1
    return { type: 'ok', output: { text: `${runs}` } }
  }
  const tools = [aTool('count', count, false)]
  const registry = createSessionRegistry({
    store,
    memoryStore: store,
    blobs,
    memoryBlobs: blobs,
    clock,
    images: { fit: async (bytes, mediaType) => ({ bytes, mediaType }) },
    models: modelsWith((name) => ({ type: 'ready', provider: createAdapter(url, name, clock) })),
    tools: { all: tools, find: () => tools[0] ?? null, endLeftover: async () => undefined },
    instructions: { gather: async () => 'Be kind.', list: async () => [] },
    files: fakeFiles,
    permissions: fakePermissions,
    summaryFiles: { save: async () => ok('note.md') },
    onProblem: (problem) => void problems.push(problem),
    node: { id: 'one', address: '', startedAt: '' },
    isAlive: async () => true,
    newSessionId,
    newHandle: (attempt) => `calm-harbor-${attempt + 1}`,
    resolveWorkdir: async (path) => ok(path),
  })
  const { id } = orThrow(await registry.start({ workdir: '/work', model, thinkingLevel: 'high' }))
  const records = () => recordsOf(store, id)
  return {
    problems,
    session: createSession(createLocalSession(registry, id)),
    ran: () => runs,
    records,
    async complaints() {
      const asked = await listStepInputs(id, await records(), blobs)
      const last = asked.at(-1)
      invariant(last, 'it sent something')
      const anywhere = cases.map((one) => ({ ...last, model: one.model }))
      const sent = await Promise.all(
        [...asked, ...anywhere].map((one) => createRequestBuilder(store, blobs).build(one)),
      )
      return sent.flatMap((request) => validateHistory(serviceOf(request.model), request))
    },
    [Symbol.asyncDispose]: () => registry.close(),
  }
}
