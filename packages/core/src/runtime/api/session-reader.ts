import {
  createSnapshotFrame,
  type FrameOf,
  fault,
  findDivergence,
  type Line,
  type ListedBranch,
  limits,
  type Message,
  MessageId,
  type Meta,
  ok,
  type PageRequest,
  type ProcessView,
  pickFields,
  type Recorded,
  type RecordedView,
  type Result,
  refuse,
  type SessionHandle,
  type SessionId,
  type StateField,
  type StoredFileChange,
  type StoredRestore,
  type Trust,
} from '@holdfast/protocol'
import type { KeptBranch, SessionState } from '../../session/state.ts'
import { viewOf } from '../../session/view.ts'
import type { Folded } from '../log/load-session.ts'
import { readMessages } from '../log/read-messages.ts'
import { type LinePage, type LineReader, readPage } from '../log/read-page.ts'
import type { Hub } from '../stream/hub.ts'

/** The reading half of a session handle. It never loads a session into the registry. */
export interface SessionReader
  extends Pick<SessionHandle, 'snapshot' | 'state' | 'page' | 'branches' | 'clientEvents' | 'fileChanges'>,
    Required<Pick<SessionHandle, 'messages'>> {
  /** Reads the recorded part of a snapshot, which is the same whenever it is read. */
  recordedView(folded: Folded): Promise<RecordedView>
  /** Builds the snapshot of a known state. `ahead` is used if it was read at the same seq. */
  snapshotOf(folded: Folded, ahead?: Promise<RecordedView | null>): Promise<FrameOf<'snapshot'>>
}

type SessionReaderDeps = {
  readonly id: SessionId
  readonly log: LineReader
  /** Returns the current folds. */
  readonly folded: () => Promise<Result<Folded>>
  /** Adds to the metadata what no record holds. */
  readonly completeMeta: (meta: Meta) => Meta
  /** Returns the trust of the session's workspace; empty where the session does not run. */
  readonly workspaceTrust: (state: SessionState) => Promise<readonly Trust[]>
  /** Returns the state of the process that runs the session; null if no process here runs it. */
  readonly here: (state: SessionState, workspaceTrust: readonly Trust[]) => ProcessView | null
  /** Lets all who read at the same seq share what they read. */
  readonly share?: Hub['share']
}

export function createSessionReader({
  id,
  log,
  folded,
  completeMeta,
  workspaceTrust,
  here,
  share = (_, read) => read(),
}: SessionReaderDeps): SessionReader {
  async function pageOf({ state }: Folded, line: Line, request: PageRequest): Promise<LinePage> {
    const page = await readPage(log, id, line, state.seq, request)
    return { ...page, messages: page.messages.map(createMarker(state)) }
  }

  async function listed({ state }: Folded, branch: KeptBranch): Promise<ListedBranch> {
    const { name, turns, messages, at, line, hidden } = branch
    const from = findDivergence(line, state.line)
    const after = MessageId.parse(Math.max((from ?? 0) - 1, 0))
    const first = from === null ? null : (await readPage(log, id, line, state.seq, { after, limit: 1 })).messages[0]
    return { name, turns, messages, at, ...(hidden && { hidden }), differsAt: first?.id ?? null }
  }

  /** Reads the checkpoint's own record: it may lie outside a truncated line and still apply. */
  async function summaryOf({ state: { checkpoint } }: Folded): Promise<string | null> {
    if (checkpoint === null) return null
    const [record] = await log.read(id, { after: checkpoint - 1, upTo: checkpoint, limit: 1 })
    return record && !('lost' in record) && record.event.type === 'checkpoint.written' ? record.event.summary : null
  }

  async function recordedView(now: Folded): Promise<RecordedView> {
    const [{ messages, before }, summary] = await Promise.all([
      pageOf(now, now.state.line, { limit: limits.snapshotMessages }),
      summaryOf(now),
    ])
    return { seq: now.state.seq, view: viewOf(now.state), messages: [...messages], before, summary }
  }

  function sharedView(now: Folded, ahead: Promise<RecordedView | null> | undefined): Promise<RecordedView> {
    return share(now.state.seq, async () => {
      const read = await ahead
      return read?.seq === now.state.seq ? read : recordedView(now)
    })
  }

  async function snapshotOf(now: Folded, ahead?: Promise<RecordedView | null>): Promise<FrameOf<'snapshot'>> {
    // Workspace trust may change without a record here, so it is never read ahead.
    const [recorded, trust] = await Promise.all([sharedView(now, ahead), workspaceTrust(now.state)])
    const meta = completeMeta(now.row.entry.meta)
    return createSnapshotFrame(recorded, { sessionId: id, meta, here: here(now.state, trust) })
  }

  return {
    recordedView,
    snapshotOf,
    async snapshot() {
      const now = await folded()
      return now.ok ? ok(await snapshotOf(now.value)) : now
    },
    async state(fields) {
      const now = await folded()
      if (!now.ok) return now
      const { state, row } = now.value
      const asked = new Set<StateField>(fields)
      const trust = asked.has('here') ? await workspaceTrust(state) : []
      const all = {
        ...viewOf(state),
        seq: state.seq,
        meta: completeMeta(row.entry.meta),
        here: here(state, trust),
        summary: asked.has('summary') ? await summaryOf(now.value) : null,
      }
      return ok(pickFields(all, fields))
    },
    async page({ branch, ...request } = {}) {
      const now = await folded()
      if (!now.ok) return now
      const line = lineOf(now.value.state, branch)
      if (!line) return refuse(noBranch(branch))
      return ok({ session: completeMeta(now.value.row.entry.meta), ...(await pageOf(now.value, line, request)) })
    },
    async *messages({ branch } = {}) {
      const now = await folded()
      if (!now.ok) return yield now
      const { state } = now.value
      const line = lineOf(state, branch)
      if (!line) return yield refuse(noBranch(branch))
      const mark = createMarker(state)
      for await (const messages of readMessages(log, id, line, state.seq)) yield ok(messages.map(mark))
    },
    async branches() {
      const now = await folded()
      if (!now.ok) return now
      return ok(await Promise.all(now.value.state.branches.map((branch) => listed(now.value, branch))))
    },
    async clientEvents({ after = 0, limit = limits.pageRecordsMax } = {}) {
      const now = await folded()
      if (!now.ok) return now
      const upTo = now.value.state.seq
      const range = { after, upTo, limit: Math.min(limit, limits.pageRecordsMax), charsMax: limits.readCharsMax }
      const page = await log.read(id, { ...range, types: ['client.said'] })
      const events = page.flatMap((record) =>
        'lost' in record || record.event.type !== 'client.said'
          ? []
          : [{ seq: record.seq, at: record.at, by: record.by ?? null, event: record.event.event }],
      )
      const last = page.at(-1)?.seq ?? upTo
      return ok({ events, after: last < upTo ? last : null })
    },
    async fileChanges({ before, limit = limits.pageRecordsMax } = {}) {
      const now = await folded()
      if (!now.ok) return now
      const upTo = Math.min((before ?? Number.POSITIVE_INFINITY) - 1, now.value.state.seq)
      const range = { after: 0, upTo, limit: Math.min(limit, limits.pageRecordsMax), charsMax: limits.readCharsMax }
      // A fork begins with its own first record: earlier changes were made by its parent.
      const types = ['call.settled', 'files.touched', 'files.restored', 'session.started'] as const
      const page = await log.read(id, { ...range, types, newestFirst: true })
      const start = page.findIndex((record) => !('lost' in record) && record.event.type === 'session.started')
      const own = start === -1 ? page : page.slice(0, start)
      const changes = own.flatMap((record) => ('lost' in record ? [] : changesOf(record)))
      const restored = own.flatMap((record) => ('lost' in record ? [] : restoresOf(record)))
      const next = start === -1 ? (page.at(-1)?.seq ?? null) : null
      return ok({ changes, ...(restored.length > 0 && { restored }), before: next })
    },
  }
}

/** Returns the file changes of a record, the last one first. */
function changesOf({ seq, at, event }: Recorded): StoredFileChange[] {
  if (event.type !== 'call.settled' && event.type !== 'files.touched') return []
  const { call = null, files = [] } = event
  return files.toReversed().map(({ contentHash: _, boundary: _boundary, ...change }) => ({ seq, at, call, ...change }))
}

function restoresOf({ seq, at, event }: Recorded): StoredRestore[] {
  if (event.type !== 'files.restored') return []
  return event.items.map(({ path, after, movedFrom }) => ({
    seq,
    at,
    path,
    after,
    ...(movedFrom !== undefined && { movedFrom }),
  }))
}

const noBranch = (branch: string | undefined) => fault('branch_not_found', `There is no branch ${branch}.`, { branch })

const lineOf = ({ branch, branches, line }: SessionState, name: string | undefined): Line | null =>
  name === undefined || name === branch ? line : (branches.find((one) => one.name === name)?.line ?? null)

/** Returns a function that marks pinned and collapsed messages, which their own records do not say. */
function createMarker({ pins, collapse }: SessionState): (message: Message) => Message {
  const pinned = new Set<number>(pins.map(({ message }) => message))
  const except = new Set<number>(collapse.except)
  return (message) => {
    const isPinned = pinned.has(message.id)
    const isCollapsed = message.kind === 'tool_call' && collapse.all !== except.has(message.id)
    return isPinned || isCollapsed ? { ...message, pinned: isPinned, collapsed: isCollapsed } : message
  }
}
