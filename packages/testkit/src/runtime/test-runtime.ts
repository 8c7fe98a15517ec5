import { createLocalSession, createRecentRecords, createSessionRegistry, type SessionRegistry } from '@holdfast/core'
import type {
  BackgroundWork,
  Blobs,
  Cluster,
  Hooks,
  Images,
  Instructions,
  Models,
  Observer,
  Permissions,
  RequestBuilder,
  Store,
  Tool,
} from '@holdfast/core/ports'
import {
  type Cap,
  CommandId,
  type CommandInput,
  type Frame,
  fault,
  ok,
  refuse,
  type SessionHandle,
  SessionId,
  type StartOptions,
} from '@holdfast/protocol'
import { aSession } from '../fixtures/log.ts'
import { fakeFiles } from './fake-files.ts'
import { fakePermissions } from './fake-permissions.ts'
import { fakeServers } from './fake-servers.ts'
import { fakeSkills } from './fake-skills.ts'
import { reachIn } from './reach-in.ts'
import { createScriptedModel, modelsOf, type Script, type ScriptedModel } from './scripted-model.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

/** A runtime for tests, with one session. */
export type TestRuntime = {
  /** The sessions of the runtime. */
  readonly registry: SessionRegistry
  /** The session. */
  readonly handle: SessionHandle
  /** The clock, which moves only by `advance`. */
  readonly clock: VirtualClock
  /** The store it runs on. */
  readonly store: Store
  /** The files of the store. */
  readonly blobs: Blobs
  /** The scripted model, with its requests. */
  readonly model: ScriptedModel
  /** Sends a command with an id. */
  send(id: string, command: CommandInput): ReturnType<SessionHandle['submit']>
  /** The events of the log, in order. */
  events(): Promise<readonly string[]>
  /** Resolves with the first matching frame. */
  frame(fits: (frame: Frame) => boolean): Promise<Frame>
}

/** The parts of a test runtime. */
export type TestRuntimeOptions = {
  /** The store to run on. */
  readonly store: Store
  /** The files of the store. */
  readonly blobs: Blobs
  /** The answers of the model; none by default. */
  readonly script?: Script
  /** Other models than the scripted one. */
  readonly models?: Models
  /** Which files the scripted model takes. */
  readonly takes?: readonly string[]
  /** Replaces the default, which accepts every image. */
  readonly images?: Images
  /** Replaces the default, which builds requests on this thread. */
  readonly requests?: RequestBuilder
  /** Builds short requests from records that are held in memory, as the program does. */
  readonly holdsRecords?: boolean
  /** The options of the session. */
  readonly start?: Partial<StartOptions>
  /** The tools; none by default. */
  readonly tools?: readonly Tool[]
  /** Replaces the default, which judges by the name of the tool. */
  readonly permissions?: Permissions
  /** The hooks; none by default. */
  readonly hooks?: Hooks
  /** The instructions of a step; a short text by default. */
  readonly instructions?: Instructions
  /** Writes titles of untitled sessions. */
  readonly titleModel?: string
  /** Writes the summaries. */
  readonly compactionModel?: string
  /** The caps of the program, beside those of the store. */
  readonly caps?: readonly Cap[]
  /** What the tools have running outside turns. */
  readonly background?: BackgroundWork
  /** The clock; a new virtual one by default. */
  readonly clock?: VirtualClock
  /** Told about the work of the runtime. */
  readonly observer?: Observer
  /** The id of this process; `one` by default. */
  readonly node?: string
  /** Takes over the session of another runtime on the same store instead of starting one. */
  readonly takesOver?: boolean
  /** The ids of live nodes; only this one by default. */
  readonly living?: readonly string[]
  /** The other runtimes on the same store, by node id, which this one can call. */
  readonly others?: ReadonlyMap<string, SessionRegistry>
  /** What a store for several machines knows; none by default. */
  readonly cluster?: Pick<Cluster, 'place' | 'serving' | 'changes'>
  /** The folders that this machine has; all by default. */
  readonly folders?: readonly string[]
}

/** Opens the real runtime in one process, on a given store, with a scripted model. */
export async function openTestRuntime(options: TestRuntimeOptions): Promise<TestRuntime> {
  const { store, blobs, script = [], tools = [], clock = createVirtualClock(), node = 'one' } = options
  const model = createScriptedModel(script)
  let born = 0
  const registry = createSessionRegistry({
    requests: options.requests,
    images: options.images ?? { fit: async (bytes, mediaType) => ({ bytes, mediaType }) },
    store,
    memoryStore: store,
    blobs,
    memoryBlobs: blobs,
    recent: options.holdsRecords ? createRecentRecords() : undefined,
    clock,
    models: options.models ?? modelsOf(model, options.takes),
    tools: {
      all: tools,
      find: (name) => tools.find(({ schema }) => schema.name === name) ?? null,
      endLeftover: async () => undefined,
      background: options.background,
    },
    instructions: options.instructions ?? { gather: async () => 'Be kind.', list: async () => [] },
    files: fakeFiles,
    permissions: options.permissions ?? fakePermissions,
    skills: fakeSkills,
    servers: fakeServers,
    hooks: options.hooks,
    summaryFiles: { save: async (_, title) => ok(`notes/${title}.md`) },
    onProblem: () => undefined,
    observer: options.observer,
    node: { id: node, address: '', startedAt: '' },
    isAlive: async ({ id }) => (options.living ?? [node]).includes(id),
    reach: options.others && reachIn(options.others),
    newSessionId: () => sessionId(born++),
    newHandle: (attempt) => `calm-harbor-${attempt + 1}`,
    resolveWorkdir: async (path) => (options.folders?.includes(path) === false ? refuse(noFolder(path)) : ok(path)),
    cluster: options.cluster,
    titleModel: options.titleModel,
    caps: options.caps,
    compactionModel: options.compactionModel,
  })
  if (!options.takesOver) await registry.start({ workdir: '/work', ...options.start })
  const handle = createLocalSession(registry, aSession)
  return {
    registry,
    handle,
    clock,
    store,
    blobs,
    model,
    send: (id, command) => handle.submit(command, { commandId: CommandId.parse(id) }),
    async events() {
      const records = await store.read(aSession, { after: 0, limit: 1000 })
      return records.map((record) => ('lost' in record ? 'lost' : record.event.type))
    },
    async frame(fits) {
      for await (const frame of handle.subscribe({ after: 0 })) if (fits(frame)) return frame
      throw new Error('the stream ended first')
    },
  }
}

const noFolder = (workdir: string) =>
  fault('bad_workdir', `The folder ${workdir} does not exist.`, { workdir, reason: 'missing' })

/** Returns `aSession` for the first session, and numbered ids for its forks. */
const sessionId = (born: number): SessionId =>
  born === 0 ? aSession : SessionId.parse(`${aSession.slice(0, -2)}f${born % 10}`)

/** Returns a test for frames: the record of an event of this type. */
export const isRecord = (type: string) => (frame: Frame) => frame.type === 'record' && frame.record.event.type === type
