import {
  type BeforeImage,
  type DiffRequest,
  didYouMean,
  escapeLine,
  type FileDiff,
  type FileDiffs,
  fault,
  isSameState,
  limits,
  ok,
  type Result,
  refuse,
  renameHeads,
  type Seq,
  type SessionId,
  traceMoves,
} from '@holdfast/protocol'
import type { LeftState, SeenEntry } from '../../ports/workspace-files.ts'
import { turnNotFound } from '../../session/decide/line.ts'
import type { SessionState } from '../../session/state.ts'
import { readerOf } from '../blobs/blob-reader.ts'
import type { RuntimeDeps } from '../dependencies.ts'
import { findTurnEnd } from '../log/find-turn-end.ts'
import { readPathChanges, readTurnChanges } from './changed-files.ts'
import { settleDuring } from './during-changes.ts'
import { findCallChanges } from './find-call-changes.ts'
import { lookAtOpen } from './interrupted-restore.ts'
import type { PathChange } from './path-change.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'blobs' | 'memoryBlobs' | 'files'>

/** The records to show, and whose they are. Changes of the whole session are compared with the files as they are now. */
type Range = { readonly after: Seq; readonly upTo: Seq; readonly of: 'session' | 'turn' | 'call' }

/** Shows what changed from before the first to after the last of the changes, per file. */
export async function diffChanges(
  deps: Deps,
  id: SessionId,
  state: SessionState,
  request: DiffRequest,
  signal: AbortSignal,
): Promise<Result<FileDiffs>> {
  const range = await findRange(deps, id, state, request)
  if (!range.ok) return range
  const workdir = state.origin?.workdir ?? ''
  const isAll = range.value.of === 'session' && request.recorded !== true
  const read = range.value.of === 'turn' ? readTurnChanges : readPathChanges
  const own = await read(deps.store, id, { ...range.value, head: state.seq })
  const changes = await lookAtOpen(deps.files, workdir, own)
  const ofCall = request.call === undefined ? changes : changes.filter(({ call }) => call === request.call)
  const asked = await pickPath(deps, workdir, changedFiles(ofCall, range.value.of), request)
  if (!asked.ok) return asked
  const files: FileDiff[] = []
  let chars = 0
  for (const file of asked.value) {
    if (files.length >= limits.restoredFilesMax) break
    const shown = await diffFile(deps, { id, workdir, ...file, isAll }, signal)
    if (shown === null) continue
    chars += shown.diff.length
    files.push(chars > limits.diffsCharsMax ? { ...shown, diff: '', note: tooMuch } : shown)
  }
  return ok({ files })
}

/** A file that changed: what was there before the first change, and the last change of its path. */
type ChangedFile = {
  readonly path: string
  /** Its old path, if it was moved. */
  readonly from?: string | undefined
  readonly before: BeforeImage
  readonly last: PathChange
  /** Whether it was moved over another file. */
  readonly hasReplaced?: boolean | undefined
}

/** Returns each changed file once, in the order of the first changes. A moved file has its old path. */
function changedFiles(changes: readonly PathChange[], of: Range['of']): readonly ChangedFile[] {
  const moves = traceMoves(changes)
  const left = new Set(moves.values())
  const byPath = Map.groupBy(changes, ({ path }) => path)
  return [...byPath].flatMap(([path, recorded]): readonly ChangedFile[] => {
    const all = of === 'session' ? settleDuring(recorded, 0) : recorded
    const [first, last] = [all[0], recorded.at(-1)]
    if (!first || !last) return []
    const from = moves.get(path)
    const origin = from === undefined ? undefined : byPath.get(from)?.[0]
    const found = all.findLast(({ movedFrom }) => movedFrom !== undefined)?.before
    if (origin) return [{ path, from, before: origin.before, last, hasReplaced: found?.type !== 'absent' }]
    return [{ path, before: left.has(path) ? { type: 'absent' } : first.before, last }]
  })
}

/** Returns the file of the asked path, by any spelling of it and by its old path; all if none is asked. Refused: not_found. */
async function pickPath(
  { files }: Deps,
  workdir: string,
  changed: readonly ChangedFile[],
  { path: asked, turn, call }: DiffRequest,
): Promise<Result<readonly ChangedFile[]>> {
  if (asked === undefined) return ok(changed)
  const named = (name: string) => changed.filter(({ path, from }) => path === name || from === name)
  const exact = named(asked)
  if (exact.length > 0) return ok(exact)
  const located = await files.locate(workdir, asked)
  if (!located.ok) return located
  const found = named(located.value)
  if (found.length > 0) return ok(found)
  const known = changed.map(({ path }) => path)
  const who = call !== undefined ? 'This call' : turn !== undefined ? `Turn ${turn}` : 'This session'
  const hint = known.length === 0 ? ' It changed no file.' : didYouMean(located.value, known) || listed(known)
  return refuse(fault('not_found', `${who} did not change ${escapeLine(asked)}.${hint}`, { path: asked }))
}

const listedMax = 5

function listed(paths: readonly string[]): string {
  const more = paths.length > listedMax ? ` and ${paths.length - listedMax} more` : ''
  return ` It changed ${paths.slice(0, listedMax).map(escapeLine).join(', ')}${more}.`
}

const tooMuch = 'not shown: the diffs before this one are long. Name this file alone to see it'

async function findRange(
  { store }: Deps,
  id: SessionId,
  state: SessionState,
  { turn, call }: DiffRequest,
): Promise<Result<Range>> {
  const { line, seq: head, turn: running } = state
  if (call !== undefined) {
    const found = await findCallChanges(store, id, call)
    return found.ok ? ok({ after: found.value[0] - 1, upTo: Math.max(...found.value), of: 'call' }) : found
  }
  if (turn === undefined) return ok({ after: 0, upTo: head, of: 'session' })
  const isRunning = running.phase !== 'idle' && running.number === turn
  const upTo = isRunning ? head : (await findTurnEnd(store, id, line, head, turn))?.seq
  if (upTo === undefined) return refuse(turnNotFound(state, turn))
  const [started] = await store.read(id, { after: 0, upTo, limit: 1, types: ['turn.started'], newestFirst: true })
  return ok({ after: started?.seq ?? 0, upTo, of: 'turn' })
}

type ComparedFile = ChangedFile & { readonly id: SessionId; readonly workdir: string; readonly isAll: boolean }

/** Returns the diff of one file; null if nothing is different in the end. */
async function diffFile(
  deps: Deps,
  { id, workdir, path, from, before, last, isAll, hasReplaced = false }: ComparedFile,
  signal: AbortSignal,
): Promise<FileDiff | null> {
  const { read } = readerOf(deps, id, signal)
  const now = await deps.files.look(workdir, path)
  const isOurs = now !== null && last.after !== null && isSameState(now.state, last.after)
  const after = isAll || isOurs ? now : await contentOf(last.after, read)
  const isRenamed = from !== undefined && after?.state.type !== 'absent'
  const change =
    before.type === 'absent'
      ? 'created'
      : isRenamed
        ? 'renamed'
        : after?.state.type === 'absent'
          ? 'deleted'
          : 'modified'
  const shown = { path, ...(isRenamed && { from }), change } as const
  const heads = isRenamed ? renameHeads(from, path) : ''
  const without = (note: string): FileDiff => ({ ...shown, diff: heads, note })
  if (before.type === 'not_kept') return without(`not shown: its content before was not kept (${before.why})`)
  if (after === null) return without('not shown: its content after that was not kept, or is too large')
  const isSame = isSameState(before, after.state)
  if (isSame && !isRenamed) return null
  const old = before.type === 'file' ? await read(before.hash) : null
  if (before.type === 'file' && old === null && !isSame) return without('not shown: its kept content is gone')
  const changed = isSame ? '' : await deps.files.diff({ path, from, before: old, after: after.bytes }, signal)
  const notes = [hasReplaced ? 'replaced the file that was there' : '', isAll && !isOurs ? 'others changed it too' : '']
  const note = notes.filter((one) => one !== '').join('; ')
  const states = isRenamed && isSame ? '' : describeEntries(path, before, after.state)
  return { ...shown, diff: `${heads}${states}${changed}`, ...(note !== '' && { note }) }
}

/** Reads what a change left: a later change may have kept it. */
async function contentOf(left: LeftState | null, read: ReturnType<typeof readerOf>['read']): Promise<SeenEntry | null> {
  if (left === null) return null
  if (left.type !== 'file') return { state: left, bytes: null }
  const bytes = await read(left.hash)
  return bytes && { state: { ...left, mode: left.mode ?? 0 }, bytes }
}

/** Writes permission bits as git does for a regular file. */
const gitMode = (mode: number): string => `100${mode.toString(8).padStart(3, '0')}`

/** Says what a diff of bytes does not show: links and permission bits. */
function describeEntries(path: string, before: SeenEntry['state'], after: SeenEntry['state']): string {
  const lines: string[] = []
  if (before.type === 'link') lines.push(`removed the link ${escapeLine(path)} -> ${escapeLine(before.target)}`)
  if (after.type === 'link') lines.push(`made the link ${escapeLine(path)} -> ${escapeLine(after.target)}`)
  if (before.type === 'file' && after.type === 'file' && after.mode !== 0 && before.mode !== after.mode)
    lines.push(`old mode ${gitMode(before.mode)}`, `new mode ${gitMode(after.mode)}`)
  return lines.map((line) => `${line}\n`).join('')
}
