import { createLocalSession, createSessionRegistry, type SessionRegistry, type SessionState } from '@holdfast/core'
import type { Blobs, Store } from '@holdfast/core/ports'
import {
  type Answer,
  type CommandInput,
  invariant,
  type ModelName,
  ok,
  orThrow,
  type Result,
  SessionId,
} from '@holdfast/protocol'
import { createVirtualClock, fakeFiles, fakePermissions, type VirtualClock } from '@holdfast/testkit'
import { loadSession } from '../../../packages/core/src/runtime/log/load-session.ts'
import { createMemoryBlobs } from '../../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../../packages/holdfast/src/store/memory/memory-store.ts'
import { type Life, settlePromises } from '../scheduler.ts'
import { createScriptedAgents, type ScriptedAgents } from './scripted-agents.ts'
import { createServiceApis, type ServiceApis } from './service-apis.ts'

type Host = { readonly life: Life; readonly registry: SessionRegistry }

/** The real runtime on an in-memory store, and the current session of the run. */
export type RequestsFixture = {
  readonly apis: ServiceApis
  readonly scriptedAgents: ScriptedAgents
  readonly store: Store
  readonly blobs: Blobs
  readonly clock: VirtualClock
  /** Unexpected errors. */
  readonly problems: readonly string[]
  readonly sessions: readonly SessionId[]
  readonly session: SessionId
  visit(session: SessionId): void
  /** Null if there is no answer when all work is done. */
  submit(command: CommandInput): Promise<Result<Answer> | null>
  crash(how: 'killed' | 'paused'): Promise<void>
  unload(): Promise<void>
  wake(): Promise<void>
  /** The state of the session in its process; null if it is not loaded. */
  live(): SessionState | null
  /** The state computed from the log. */
  folded(): Promise<SessionState>
}

const never = () => new Promise<never>(() => undefined)

/** Wraps the store for one process. After it is killed, calls do nothing and never resolve. */
const mortal = (store: Store, life: Life): Store =>
  new Proxy(store, { get: (target, name) => (life.status === 'dead' ? never : Reflect.get(target, name)) })

const sessionId = (number: number) => SessionId.parse(`ses_01k9xyzabcdefghjkmnpqrs${String(number).padStart(3, '0')}`)

export async function openRequestsFixture(model: ModelName): Promise<RequestsFixture> {
  const clock = createVirtualClock()
  const store = createMemoryStore()
  const blobs = createMemoryBlobs()
  const apis = createServiceApis()
  const scriptedAgents = createScriptedAgents({ apis, clock })
  const problems: string[] = []
  const lives = new Map<string, Life>()
  const sessions: SessionId[] = []
  let session = sessionId(0)

  async function beBorn(): Promise<Host> {
    const life: Life = { node: `node-${lives.size + 1}`, status: 'living' }
    lives.set(life.node, life)
    const node = { id: life.node, address: '', startedAt: new Date(clock.now()).toISOString() }
    await store.registerNode(node)
    const own = mortal(store, life)
    const registry = createSessionRegistry({
      store: own,
      memoryStore: own,
      blobs,
      memoryBlobs: blobs,
      clock,
      node,
      images: { fit: async (bytes, mediaType) => ({ bytes, mediaType }) },
      models: scriptedAgents.models(life),
      tools: scriptedAgents.tools(life),
      instructions: { gather: async ({ mode }) => `You are in ${mode} mode.`, list: async () => [] },
      files: fakeFiles,
      permissions: fakePermissions,
      summaryFiles: { save: async () => ok('note.md') },
      onProblem({ where, cause }) {
        if (life.status === 'living')
          problems.push(`${where}: ${cause instanceof Error ? cause.stack : JSON.stringify(cause)}`)
      },
      isAlive: async ({ id }) => lives.get(id)?.status === 'living',
      newSessionId() {
        const born = sessionId(sessions.length)
        sessions.push(born)
        return born
      },
      newHandle: (attempt) => `calm-harbor-${100 * sessions.length + attempt}`,
      resolveWorkdir: async (path) => ok(path),
    })
    return { life, registry }
  }

  let host = await beBorn()
  orThrow(await host.registry.start({ workdir: '/work', model, thinkingLevel: 'high' }))
  return {
    apis,
    scriptedAgents,
    store,
    blobs,
    clock,
    problems,
    sessions,
    get session() {
      return session
    },
    visit(other) {
      session = other
    },
    async submit(command) {
      let answer: Result<Answer> | null = null
      createLocalSession(host.registry, session)
        .submit(command)
        .then((received) => (answer = received))
      await settlePromises()
      return answer
    },
    async crash(how) {
      host.life.status = how === 'killed' ? 'dead' : 'paused'
      host = await beBorn()
      await host.registry.settleCrashed()
    },
    async unload() {
      const { life, registry } = host
      const unloaded = registry.unload(session)
      await settlePromises()
      // It waits for aborted tools; their late answers must have no effect.
      for (const one of scriptedAgents.working) {
        if (one.life === life && one.signal.aborted) one.end({ type: 'ok', output: { text: 'late' } })
      }
      await unloaded
    },
    async wake() {
      orThrow(await host.registry.load(session))
      await settlePromises()
    },
    live: () => host.registry.loaded(session)?.folded().state ?? null,
    async folded() {
      const source = { read: store.read, entry: store.entry, loadSnapshot: async () => null }
      const { state, lost } = orThrow(await loadSession(source, session))
      invariant(lost.length === 0, 'records are lost')
      return state
    },
  }
}
