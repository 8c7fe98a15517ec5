import type { HoldfastMethods, Session } from '@holdfast/client'
import { HoldfastError, orThrow } from '@holdfast/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openApi, type TestApi, type Where } from './testing/near-and-far.ts'

/** Values that a program without types may pass by mistake. */
const badValues: Readonly<Record<string, unknown>> = {
  null: null,
  undefined: undefined,
  'an empty text': '',
  'an object': {},
  'a list': [],
  'a list of null': [null],
  'a number': 5,
  'a negative number': -1,
  'not a number': Number.NaN,
  true: true,
  'a NUL': '\0',
  'two dots': '..',
  'a lone surrogate': '\ud800',
  'a long text': 'x'.repeat(100_000),
  'an unknown key': { nonsense: 1 },
  'a symbol': Symbol('name'),
  'a function': () => 'name',
}

type Place = TestApi & { readonly session: Session }
/** The right arguments of a method; each is replaced by each bad value in turn. */
type Arguments = (place: Place) => readonly unknown[]

const bytes = new TextEncoder().encode('a note')
const nobody = 'ses_00000000000000000000000000'
const seed = { role: 'user', content: 'more' }

const holdfastCalls: Readonly<
  Record<Exclude<keyof HoldfastMethods, 'handles' | 'tokens' | 'close' | typeof Symbol.asyncDispose>, Arguments>
> = {
  startSession: ({ home }) => [{ workdir: home, persist: false }],
  getSession: ({ session }) => [session.id],
  getOrCreate: ({ home }) => ['bot:1', { workdir: home }],
  latest: ({ home }) => [home],
  sessions: () => [{}],
  list: () => [{}],
  search: () => ['count', {}],
  storeFile: () => [bytes, { name: 'note.txt' }],
  models: () => [],
  refreshCredentials: () => [],
  sendPrompt: ({ session }) => [session.id, 'count to 2'],
  abort: ({ session }) => [session.id],
  fork: ({ session }) => [session.id, 0],
  appendMessage: ({ session }) => [session.id, seed],
  appendCheckpoint: ({ session }) => [session.id, [seed], 10],
  appendClientEvent: ({ session }) => [session.id, { eventId: 'a', type: 'shown' }, {}],
  save: ({ home }) => [{ id: 'bot:2', workspace: home, messages: [] }],
  ensureMeta: ({ home }) => [{ id: 'bot:3', workspace: home, messages: [seed] }],
  export: ({ session }) => [session.id, { format: 'json' }],
  exportMarkdown: ({ session }) => [session.id, {}],
  exportSessionMarkdown: ({ session }) => [session, {}],
  import: () => [{ name: 'notes.txt', bytes }, {}],
  stats: () => [{ days: 1 }],
  spending: () => [{ day: '2026-01-31' }],
  setCap: () => [{ maxCost: 5 }],
  removeCap: () => [{ token: 'local' }],
  permissions: () => [{}],
  addPermission: () => [{ tool: 'shell', pattern: 'echo **', verdict: 'allow' }],
  removePermission: () => ['none'],
  workspaceOffers: ({ home }) => [home],
  trustOffers: ({ home }) => [{ workdir: home, offers: [{ kind: 'memory', name: 'none', hash: 'none' }] }],
  revokeTrust: ({ home }) => [home],
  trustedWorkspaces: () => [],
  hooks: ({ home }) => [home],
  skills: ({ home }) => [home],
  agents: ({ home }) => [home],
  mcpServers: ({ home }) => [home],
  commands: ({ home }) => [home],
  tools: ({ home }) => [{ workdir: home }],
  stopSession: ({ session }) => [session.id],
  subscribe: () => [{}],
  delete: () => [nobody, { dryRun: true }],
  purge: () => [nobody, { dryRun: true }],
  clearAll: () => [{ dryRun: true }],
  prune: () => [30, { dryRun: true }],
  cleanupOlderThan: () => ['2020-01-31', { dryRun: true }],
  trash: () => [{}],
  restore: ({ session }) => [session.id],
  emptyTrash: () => [{ dryRun: true }],
  pinSession: ({ session }) => [session.id, true],
  rename: ({ session }) => [session.id, 'Named'],
}

const sessionCalls: Readonly<Record<Exclude<keyof Session, 'id'>, Arguments>> = {
  as: () => ['anna'],
  attach: () => [{ client: 'anna' }],
  prompt: () => ['count to 2', {}],
  sendPrompt: () => ['count to 2', {}],
  queueSteering: () => ['count to 2', {}],
  queueFollowUp: () => ['count to 2', {}],
  recallQueues: () => [{}],
  clearQueues: () => [{}],
  dequeueSteering: () => [{}],
  editQueueEntry: () => [1, 'more', {}],
  removeQueueEntry: () => [1, {}],
  reorderQueue: () => ['steering', [1], {}],
  respondToApproval: () => ['approve', 1, 'why', {}],
  abort: () => [{}],
  continue: () => [{}],
  enterPlan: () => [{}],
  enterExec: () => [{}],
  setBudgets: () => [{}, {}],
  setApprovals: () => ['all', {}],
  setToolTrust: () => ['shell', 'session', {}],
  revokeToolTrust: () => ['shell', {}],
  claimDriver: () => [{}],
  handOver: () => ['ben', {}],
  pinSession: () => [{}],
  rename: () => ['Named', {}],
  moveWorkdir: ({ home }) => [home, {}],
  setBoundary: () => ['a.txt', 0, 1, {}],
  clearBoundary: () => ['a.txt', {}],
  clearAllBoundaries: () => [{}],
  activateSkill: () => ['missing', {}],
  deactivateSkill: () => ['missing', {}],
  listSkills: () => [],
  setServer: () => ['missing', false, {}],
  retryServer: () => ['missing', {}],
  listServers: () => [],
  subagents: () => [],
  subagentContext: () => [],
  getCommands: () => [],
  appendClientEvent: () => [{ eventId: 'b', type: 'shown' }, {}],
  combineQueueEntriesToText: () => [[{ content: [{ type: 'text', text: 'more' }] }]],
  subscribe: () => [{}],
  branchAt: () => [0, {}],
  switchBranch: () => [0, {}],
  listBranches: () => [],
  rewind: () => [0, {}],
  fork: () => [0, {}],
  togglePin: () => [1, {}],
  toggleToolCollapse: () => [1, {}],
  toggleAllToolCollapses: () => [{}],
  seedMessages: () => [[seed], {}],
  addSystemMessage: () => ['noted', 'info', {}],
  compact: () => [{}],
  undoCompaction: () => [{}],
  appendCheckpoint: () => [[seed], 10, {}],
  summarize: () => [{}],
  setSummary: () => ['All good.', {}],
  truncateHistory: () => [1000, {}],
  setHistory: () => [[seed], {}],
  setModel: () => ['demo/agent', {}],
  cycleModel: () => [{}],
  setThinkingLevel: () => ['off', {}],
  cycleThinkingLevel: () => [{}],
  getAvailableModels: () => [],
  getProvider: () => [],
  refreshCredentials: () => [{}],
  credentialsConfigured: () => [],
  usage: () => [{}],
  turnUsage: () => [],
  contextUsage: () => [],
  messages: () => [{}],
  messagesWithIds: () => [{}],
  page: () => [{}],
  blob: () => ['0'.repeat(64)],
  snapshot: () => [],
  clientEvents: () => [{}],
  todos: () => [],
  backgroundShells: () => [],
  instructionFiles: () => [],
  stopBackgroundShell: () => ['abcd', {}],
  boundaries: () => [],
  boundaryFor: () => ['a.txt'],
  fileChanges: () => [],
  touchedFiles: () => [],
  readFile: () => ['a.txt', {}],
  diffChanges: () => [{}],
  previewRestore: () => [{ turn: 0 }],
  restoreFiles: () => [{ turn: 0 }, {}],
  clientEventsComplete: () => [],
  status: () => [],
  metadata: () => [],
  pinnedIds: () => [],
  activeToolCalls: () => [],
  getQueuedMessages: () => [],
  listToolTrust: () => [],
  getSummary: () => [],
  isPersistent: () => [],
  hooksEnabled: () => [],
  subscriberRole: () => ['anna'],
  editorSnapshot: () => [],
}

const places: Place[] = []

beforeAll(async () => {
  for (const where of ['here', 'of a server'] as readonly Where[]) {
    const opened = await openApi(where)
    const session = await opened.api.startSession({ workdir: opened.home })
    await session.prompt('count to 2').result()
    await session.pinSession({ pinned: true }) // clearAll leaves it
    places.push({ ...opened, session })
  }
})
afterAll(async () => {
  for (const place of places) await place[Symbol.asyncDispose]()
})

/** Reads what a call returned, as far as it comes by itself. */
async function settle(name: string, returned: unknown): Promise<unknown> {
  if (typeof returned !== 'object' || returned === null) return returned
  if ('result' in returned && typeof returned.result === 'function') return returned.result()
  if ('then' in returned || !(Symbol.asyncIterator in returned)) return returned
  const items = (returned as AsyncIterable<unknown>)[Symbol.asyncIterator]()
  const first = await items.next()
  await items.return?.()
  return [name, first.done]
}

/** Calls a method and returns `ok` or the code of its refusal. Any other error is a bug. */
async function outcomeOf(target: object, name: string, values: readonly unknown[]): Promise<string> {
  try {
    const method = Reflect.get(target, name) as (...given: readonly unknown[]) => unknown
    const value = await settle(name, method(...values))
    if (name === 'attach') await (value as { detach(): Promise<void> }).detach()
    return 'ok'
  } catch (error) {
    return error instanceof HoldfastError ? error.code : `a bug: ${error}`
  }
}

/** Returns a value that changes with the store. */
async function stampOf({ near }: Place): Promise<string> {
  const [{ sessions }, trash] = await Promise.all([near.list({ limit: 1000 }), near.trash()])
  const ids = sessions.map(({ id }) => id).toSorted()
  return JSON.stringify([ids, trash.sessions.length, await near.permissions()])
}

/** Returns the last seq of the session. */
const seqOf = async ({ near, session: { id } }: Place): Promise<number> =>
  orThrow(await orThrow(await near.handles.open(id)).state(['seq'])).seq

const isEmpty = (value: unknown) =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

/** Methods that start a thread when they work; other tests do that. */
const isSlow: ReadonlySet<string> = new Set(['import', 'stats', 'export', 'exportMarkdown', 'exportSessionMarkdown'])

/** Leaves out values that work and are slow, that wait for news, or that mean something else on a server. */
function isLeftOut(name: string, target: 'session' | 'api', value: unknown): boolean {
  if (target === 'session') return name === 'moveWorkdir' && value === '..'
  if (name === 'latest') return value === '..'
  if (isEmpty(value)) return name === 'subscribe' || isSlow.has(name)
  return name === 'import' && typeof value === 'string' // here a path
}

/** Methods whose outcome depends on whether a turn runs: their values are tried one by one. */
const startsTurn: ReadonlySet<string> = new Set([
  ...['sendPrompt', 'queueSteering', 'queueFollowUp', 'prompt', 'continue'],
])

type Entry = readonly [what: string, value: unknown]

/** Calls a method with each of these values as one argument, all at once, and returns its outcomes near and far. */
async function tryAll(
  target: 'session' | 'api',
  name: string,
  args: Arguments,
  index: number,
  entries: readonly Entry[],
) {
  return Promise.all(
    places.map(async (place) => {
      // Whether there is something to continue depends on whether the turn before ended before it was aborted.
      if (name === 'continue') await place.session.prompt('hello').result()
      const seq = await seqOf(place)
      const given = args(place)
      const outcomes = await Promise.all(
        entries.map(([, value]) => outcomeOf(place[target], name, given.with(index, value))),
      )
      if (startsTurn.has(name) && outcomes.includes('ok')) await place.session.abort()
      const isChanged = !outcomes.includes('ok') && (await seqOf(place)) !== seq
      return { outcomes, isChanged }
    }),
  )
}

/** Returns what is wrong with the outcomes of one argument, and whether every value was refused. */
async function checkArgument(
  target: 'session' | 'api',
  name: string,
  args: Arguments,
  index: number,
  entries: readonly Entry[],
) {
  const wrong: string[] = []
  const tried = await tryAll(target, name, args, index, entries)
  const outcomesOf = (at: number) => tried.map(({ outcomes }) => outcomes[at] ?? '')
  const accepted = entries.filter((_, at) => outcomesOf(at).includes('ok'))
  for (const [at, [what]] of entries.entries()) {
    const outcomes = outcomesOf(at)
    if (outcomes.some((one) => one.startsWith('a bug')) || new Set(outcomes).size > 1)
      wrong.push(`argument ${index} ${what}: ${outcomes.join(' here, far ')}`)
  }
  if (tried.some(({ isChanged }) => isChanged)) wrong.push(`argument ${index}: a refused value changed something`)
  // The others once more, by themselves: what was accepted beside them may have changed the session.
  const refused = entries.filter((entry) => !accepted.includes(entry))
  if (accepted.length > 0 && refused.length > 0) {
    const again = await tryAll(target, name, args, index, refused)
    if (again.some(({ isChanged }) => isChanged)) wrong.push(`argument ${index}: a refused value changed something`)
  }
  return { wrong, isRefused: accepted.length === 0 }
}

const rows = [
  ...Object.entries(holdfastCalls).map(([name, args]) => ['api', name, args] as const),
  ...Object.entries(sessionCalls).map(([name, args]) => ['session', name, args] as const),
]

it.each(rows)(
  '%s.%s takes a wrong value, or refuses it with a code and changes nothing, near as far',
  async (target, name, args) => {
    const wrong: string[] = []
    const before = await Promise.all(places.map(stampOf))
    let isRefused = true
    const count = places.flatMap((place) => args(place)).length / places.length
    const entries = Object.entries(badValues).filter(([, value]) => !isLeftOut(name, target, value))
    const groups = startsTurn.has(name) ? entries.map((entry) => [entry]) : [entries]
    for (let index = 0; index < count; index++)
      for (const group of groups) {
        const found = await checkArgument(target, name, args, index, group)
        wrong.push(...found.wrong)
        isRefused &&= found.isRefused
      }
    if (isRefused) expect(await Promise.all(places.map(stampOf))).toEqual(before)
    expect(wrong).toEqual([])
  },
)
