import {
  createLocalSession,
  createSessionRegistry,
  type LocalSession,
  type SessionRegistry,
  StillRunning,
} from '@holdfast/core'
import { type Answer, type FrameOf, invariant, limits, ok, orThrow, type Result, SessionId } from '@holdfast/protocol'
import { createVirtualClock, fakeFiles, fakePermissions, fakeServers, fakeSkills } from '@holdfast/testkit'
import { createMemoryBlobs } from '../../../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../../../packages/holdfast/src/store/memory/memory-store.ts'
import { type Life, settlePromises } from '../../scheduler.ts'
import { submitAs } from '../../submit-as.ts'
import type { SentCommand } from '../family/predict-outcome.ts'
import { type AttachedClient, type Client, stepsMax } from '../state.ts'
import { type Attachment, attach, type Memory } from './client-view.ts'
import { type CrashPoint, createCrashableStore } from './crashable-store.ts'
import { type ReadLines, readLines } from './read-lines.ts'
import { createScriptedAgents, hasDeafWork, isWanted, type ScriptedAgents } from './scripted-agents.ts'

const letters = '0123456789abcdefghjkmnpqrstvwxyz'
const sessionAt = (number: number) =>
  SessionId.parse(`ses_01k9xyzabcdefghjkmnpqrst${letters[Math.floor(number / 32) % 32]}${letters[number % 32]}`)

type Host = { readonly life: Life; readonly registry: SessionRegistry }

/** The real runtime on an in-memory store. It gets all input through clients and adapters. */
export type RealSession = {
  readonly scriptedAgents: ScriptedAgents
  readonly problems: readonly string[]
  complain(problem: string): void
  readonly attachments: readonly Attachment[]
  /** The current session of the run. */
  readonly session: string
  /** Switches to another session and disconnects all clients. */
  visit(session: string): void
  isLoaded(): boolean
  now(): Promise<FrameOf<'snapshot'>>
  lines(): Promise<ReadLines>
  workspaceTrust(workdir: string): ReturnType<ReturnType<typeof createMemoryStore>['workspaceTrust']>
  submit(asked: SentCommand): Promise<Result<Answer>>
  attach(client: Client, role: AttachedClient['role'] | null): void
  detach(client: Client): void
  /** Kills the process at its next append of a command. Returns a function that returns whether it happened. */
  crashPoint(when: 'before' | 'after'): () => boolean
  /** Kills or pauses the process and starts another one, which takes over. */
  crash(how: 'killed' | 'paused'): Promise<void>
  unload(): Promise<void>
  advance(byMs: number): void
}

export async function openRealSession(): Promise<RealSession> {
  const clock = createVirtualClock()
  const store = createMemoryStore()
  const blobs = createMemoryBlobs()
  const scriptedAgents = createScriptedAgents()
  const problems: string[] = []
  const lives = new Map<string, Life>()
  const crashPoint: CrashPoint = { when: null }
  const memories = new Map<SessionId, Memory>()
  let made = 0
  let handles = 0
  let session = sessionAt(0)
  let attachments: readonly Attachment[] = []

  async function beBorn(): Promise<Host> {
    const life: Life = { node: `node-${lives.size + 1}`, status: 'living' }
    lives.set(life.node, life)
    const node = { id: life.node, address: '', startedAt: new Date(clock.now()).toISOString() }
    await store.registerNode(node)
    const crashable = createCrashableStore(store, life, crashPoint)
    const registry = createSessionRegistry({
      store: crashable,
      memoryStore: crashable,
      blobs,
      memoryBlobs: blobs,
      clock,
      node,
      images: { fit: async (bytes, mediaType) => ({ bytes, mediaType }) },
      files: fakeFiles,
      permissions: fakePermissions,
      summaryFiles: { save: async () => ok('note.md') },
      skills: fakeSkills,
      servers: fakeServers,
      models: scriptedAgents.models(life),
      tools: scriptedAgents.tools(life),
      instructions: { gather: async ({ mode }) => `You are in ${mode} mode.`, list: async () => [] },
      onProblem({ where, cause }) {
        if (life.status === 'living' && !(cause instanceof StillRunning && hasDeafWork(scriptedAgents, life)))
          problems.push(`${where}: ${cause instanceof Error ? cause.stack : JSON.stringify(cause)}`)
      },
      isAlive: async ({ id }) => lives.get(id)?.status === 'living',
      newSessionId: () => sessionAt(made++),
      newHandle: () => `calm-harbor-${++handles}`,
      resolveWorkdir: async (path) => ok(path),
    })
    return { life, registry }
  }

  let host = await beBorn()

  const handle = (): LocalSession => createLocalSession(host.registry, session)
  const memory = (): Memory => {
    const known = memories.get(session) ?? new Map()
    memories.set(session, known)
    return known
  }
  const hangUp = () => {
    for (const one of attachments) one.detach()
    attachments = []
  }

  const real: RealSession = {
    scriptedAgents,
    problems,
    complain: (problem) => void problems.push(problem),
    get attachments() {
      return attachments
    },
    get session() {
      return session
    },
    visit(other) {
      hangUp()
      session = SessionId.parse(other)
    },
    isLoaded: () => host.registry.loaded(session) !== null,
    now: async () => orThrow(await handle().snapshot()),
    lines: () => readLines(handle()),
    workspaceTrust: (workdir) => store.workspaceTrust(workdir),
    submit: ({ id, by, command }) => submitAs(handle(), command, by, id),
    attach(client, role) {
      attachments = [...attachments, attach({ client, role, handle: handle() }, memory())]
    },
    detach(client) {
      const one = attachments.findLast((attachment) => attachment.client === client)
      attachments = attachments.filter((other) => other !== one)
      one?.detach()
    },
    crashPoint(when) {
      const { life } = host
      crashPoint.when = when
      return () => {
        crashPoint.when = null
        return life.status === 'dead'
      }
    },
    async crash(how) {
      host.life.status = how === 'killed' ? 'dead' : 'paused'
      hangUp()
      host = await beBorn()
      await host.registry.settleCrashed()
    },
    async unload() {
      const { life, registry } = host
      const unloaded = registry.unload(session)
      await settlePromises()
      // It waits for aborted work; its late answers must have no effect.
      for (const one of scriptedAgents.answering) if (one.life === life) one.end({ text: 'late', uses: [] })
      for (const one of scriptedAgents.working) if (one.life === life) one.end('ok')
      await unloaded
      hangUp()
    },
    advance: (byMs) => clock.advance(byMs),
  }
  await begin(real, host)
  return real
}

async function begin({ scriptedAgents, submit }: RealSession, { registry }: Host): Promise<void> {
  invariant(limits.draftSaveMs <= 1000 && limits.idleUnloadMs <= 15 * 60_000, 'the moves of time are long enough')
  await registry.start({ workdir: '/work', budgets: { maxSteps: stepsMax } })
  await submit({ id: 'begin', by: null, ticket: 0, command: { type: 'sendPrompt', content: 'Begin.' } })
  await settlePromises()
  scriptedAgents.answering.find(isWanted)?.end({ text: 'Ready.', uses: [] })
  await settlePromises()
}
