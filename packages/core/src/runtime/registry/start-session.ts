import {
  blobsOf,
  type Event,
  fault,
  Handle,
  invariant,
  ok,
  parseStartOptions,
  type Result,
  refuse,
  type Seq,
  type SessionId,
  type Settings,
  type StartOptions,
} from '@holdfast/protocol'
import { seed } from '../../session/decide/seed.ts'
import { withLengths } from '../../session/decide.ts'
import { emptySession } from '../../session/state.ts'
import type { NodeDeps } from '../dependencies.ts'
import { encodeRecords } from '../log/encode-append.ts'
import { type Folded, fold } from '../log/load-session.ts'
import { refuseSeeds } from '../resolve/check-files.ts'
import { refuseUnknownTool } from '../resolve/unknown-tool.ts'
import type { SessionStores } from './session-stores.ts'

/** Starts a session, with the id that another node chose for it if there is one. Refused: bad_request, bad_id, bad_workdir, unknown_model, key_taken, session_not_found for its parent. */
export async function startSession(
  deps: NodeDeps,
  stores: SessionStores,
  given: StartOptions,
  session?: SessionId,
): Promise<Result<SessionId>> {
  const options = parseStartOptions(given)
  if (!options.ok) return options
  const workdir = await deps.resolveWorkdir(options.value.workdir ?? '.')
  if (!workdir.ok) return workdir
  const { tools = [], permissions = [] } = options.value
  const ofRules = permissions.map(({ tool }) => tool).filter((tool) => tool !== '*')
  const unknownTool = refuseUnknownTool(deps.tools, [...tools, ...ofRules])
  if (unknownTool) return refuse(unknownTool)
  const refusedRules = deps.permissions.refuse(permissions)
  if (!refusedRules.ok) return refusedRules
  const { model, parent } = options.value
  // A missing key may be added before the first prompt, which names it. A name that no provider has stays wrong.
  const found = model === undefined ? null : deps.models.find(model)
  if (found?.type === 'unknown_model') return refuse(fault('unknown_model', found.message, { model }))
  if (parent !== undefined && (await stores.entry(parent)) === null) {
    return refuse(fault('session_not_found', `There is no session ${parent} to be the parent.`, { session: parent }))
  }
  const { messages = [], persist } = options.value
  const isUnkept = persist === false
  const unsendable = await refuseSeeds(
    { blobs: isUnkept ? deps.memoryBlobs : deps.blobs, images: deps.images, isUnkept },
    messages,
  )
  if (unsendable) return refuse(unsendable)
  const seeded = seed({ seq: 1, turns: 0 }, messages)
  if (!seeded.ok) return seeded
  const data = options.value
  return createSession(deps, stores, {
    session: session ?? deps.newSessionId(),
    parent: null,
    base: 0,
    events(handle) {
      const started = startedEvent(data, workdir.value, handle, deps.models.defaultModel())
      return withLengths(emptySession(), [started, ...seeded.value])
    },
  })
}

type ParsedStart = Extract<ReturnType<typeof parseStartOptions>, { readonly ok: true }>['value']

function startedEvent(options: ParsedStart, workdir: string, handle: Handle, defaultModel: Settings['model']): Event {
  const { model = defaultModel, thinkingLevel = 'off', mode = 'exec', budgets = {} } = options
  const { title, approvals, permissions, approvalTimeoutMs } = options
  const { key, tools, instructions, readOnly, persist, providerOptions, background, parent } = options
  const { hooksEnabled, sessionStartHook } = options
  return {
    type: 'session.started',
    handle,
    ...(key !== undefined && { key }),
    workdir,
    settings: {
      model,
      thinkingLevel,
      mode,
      ...(title !== undefined && { title }),
      budgets,
      ...(approvals !== undefined && { approvals }),
      ...(permissions !== undefined && { permissions }),
      ...(approvalTimeoutMs !== undefined && { approvalTimeoutMs }),
    },
    ...(readOnly && { readOnly }),
    ...(persist === false && { persist }),
    ...(tools !== undefined && { tools }),
    ...(instructions !== undefined && { instructions }),
    ...(providerOptions !== undefined && { providerOptions }),
    ...(hooksEnabled === false && { hooksEnabled }),
    ...(sessionStartHook === false && { sessionStartHook }),
    ...(background && { background }),
    ...(parent !== undefined && { parent }),
  }
}

const handleTriesMax = 20

type NewLog = {
  readonly session: SessionId
  /** For a fork, the session whose records it reads up to `base`; otherwise null and 0. */
  readonly parent: SessionId | null
  readonly base: Seq
  /** Returns the first events, given the session's handle. */
  readonly events: (handle: Handle) => readonly Event[]
}

/** Writes a session's first records, owned by this node, under a free handle. */
export async function createSession(
  deps: NodeDeps,
  { create }: Pick<SessionStores, 'create'>,
  { session, parent, base, events }: NewLog,
): Promise<Result<SessionId>> {
  for (let attempt = 0; ; attempt++) {
    const first = { events: events(Handle.parse(deps.newHandle(attempt))), commandId: null, by: null }
    const records = encodeRecords({ after: base, atMs: deps.clock.now(), ...first })
    const folded = records.reduce<Folded | null>((sum, { record }) => fold(sum, session, record), null)
    invariant(folded, 'a session begins with a record')
    const { entry } = folded.row
    const blobs = first.events.flatMap(blobsOf)
    const created = await create({ session, parent, base, owner: deps.node.id, records, entry, blobs })
    if (created.ok) return ok(session)
    if (created.fault.code !== 'handle_taken' || attempt >= handleTriesMax) return created
  }
}
