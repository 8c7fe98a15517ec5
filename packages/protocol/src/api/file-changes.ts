import { z } from 'zod'
import {
  type BeforeImage,
  FileChange,
  FileState,
  isSameState,
  RefusedFile,
  RestoredName,
} from '../event/file-change.ts'
import { CallId, Instant, Seq, SessionId, TurnNumber } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { linkMoves, traceMoves } from './trace-moves.ts'

/** A change to a file of the workdir, as a call of the session made it. */
export const StoredFileChange = FileChange.omit({ contentHash: true, boundary: true }).extend({
  /** The seq of the record that has it. */
  seq: Seq,
  /** When it was recorded. */
  at: Instant,
  /** The call that changed the file; null if a shell command of a slash command did. */
  call: CallId.nullable(),
})
export type StoredFileChange = z.infer<typeof StoredFileChange>

/** Which file changes to read. */
export type FileChangeRequest = {
  /** Only changes before this seq; the newest ones when absent. */
  readonly before?: Seq | undefined
  /** The largest number of calls to read. */
  readonly limit?: number | undefined
}

export const FileChangeRequest = z.strictObject({
  before: Seq.optional(),
  limit: z.int().min(1).max(limits.pageRecordsMax).optional(),
})

/** A file that a person put back. */
export const StoredRestore = z.object({
  /** The seq of the record that has it. */
  seq: Seq,
  /** When it was recorded. */
  at: Instant,
  /** The path in the workdir. */
  path: z.string(),
  /** What is there since. */
  after: FileState,
  /** The path that the file was at until then, if a move was put back. */
  movedFrom: z.string().optional(),
})
export type StoredRestore = z.infer<typeof StoredRestore>

/** A page of what happened to files, newest first. */
export const FileChangePage = z.object({
  /** What calls did to files. */
  changes: z.array(StoredFileChange),
  /** What people put back; absent if nothing was. */
  restored: z.array(StoredRestore).optional(),
  /** The cursor of the next page, null at the end. */
  before: Seq.nullable(),
})
export type FileChangePage = z.infer<typeof FileChangePage>

/** A file that a session changed, with its newest change. */
export const TouchedFile = z.object({
  /** The path in the workdir; of a renamed file, the new one. */
  path: z.string(),
  /** The path of a renamed file before the session. */
  from: z.string().optional(),
  /** What happened to it last. */
  action: z.enum(['created', 'modified', 'deleted', 'renamed']),
  /** When that was. */
  at: Instant,
  /** The call that did it; null if a shell command of a slash command did. */
  callId: CallId.nullable(),
  /** Set if it was found at the end of a command in the background: the command did it, or others did while it ran. */
  during: z.literal(true).optional(),
  /** The subagent that did it; absent if the session itself did. */
  child: SessionId.optional(),
})
export type TouchedFile = z.infer<typeof TouchedFile>

/**
 * Returns the newest change of each file, newest first, from all pages of changes. A file that was put back has the change
 * whose content it has now; one that is as it was before the session is not among them. A moved file is one entry.
 */
export function listTouched(pages: readonly Pick<FileChangePage, 'changes' | 'restored'>[]): readonly TouchedFile[] {
  const steps = pages.flatMap(({ changes, restored = [] }) => [
    ...changes.flatMap(stepsOf),
    ...restored.map(restoreStep),
  ])
  const newestFirst = steps.map((step, index) => ({ step, index })).sort(newer)
  const ordered = newestFirst.map(({ step }) => step)
  const moves = traceMoves(ordered.toReversed())
  const left = new Set(moves.values())
  const linked = new Set(linkMoves(ordered).flat())
  return [...Map.groupBy(ordered, ({ path }) => path)]
    .flatMap(([path, all]) => {
      if (!linked.has(path)) return touchedBy(all)
      return touchedByMove(all, { from: moves.get(path), hasLeft: left.has(path) })
    })
    .sort((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0))
}

/** The files that a session changed. */
export type TouchedFiles = {
  /** Each once with its newest change, newest first. */
  readonly files: readonly TouchedFile[]
  /** Set if there are more changes than are read: then these are the files of the newest ones. */
  readonly isCut?: true
  /** Whether a change that was read is one that a person put back. */
  readonly hasRestored: boolean
}

/** Collects pages of changes, newest first, up to the limits, and lists their files. */
export function collectTouched() {
  const pages: FileChangePage[] = []
  let [changes, chars, isCut] = [0, 0, false]
  return {
    /** Adds a page. Returns the cursor of the next one; null if no more is needed. */
    add(page: FileChangePage): Seq | null {
      const found = [...page.changes, ...(page.restored ?? [])]
      changes += found.length
      chars += found.reduce((sum, { path }) => sum + path.length, 0)
      // The newest page is always shown: it is bounded itself.
      isCut = pages.length > 0 && (changes > limits.touchedChangesMax || chars > limits.touchedPathsCharsMax)
      if (isCut) return null
      pages.push(page)
      return page.before
    },
    list(): TouchedFiles {
      const hasRestored = pages.some(({ restored = [] }) => restored.length > 0)
      return { files: listTouched(pages), ...(isCut && { isCut }), hasRestored }
    },
  }
}

/** What happened to one path. `action` is null for a restore, `call` also for a slash command; a state is null if it is not known. */
type Step = Pick<StoredFileChange, 'seq' | 'at' | 'path'> & {
  readonly call: CallId | null
  readonly action: TouchedFile['action'] | null
  readonly during?: true | undefined
  readonly child?: SessionId | undefined
  readonly movedFrom?: string | undefined
  readonly before: BeforeImage | null
  readonly after: LeftState | null
}

type LeftState = Parameters<typeof isSameState>[1]

type Numbered = { readonly step: Step; readonly index: number }

const newer = (one: Numbered, other: Numbered) => other.step.seq - one.step.seq || one.index - other.index

const absent = { type: 'absent' } as const

function stepsOf(stored: StoredFileChange): readonly Step[] {
  const { seq, at, call, during, child, path, change, from, replaced = absent, after: hash, mode = null, link } = stored
  const before = stored.before ?? (change === 'created' ? absent : null)
  const one = { seq, at, call, during, child }
  const linked = link === undefined ? null : { type: 'link' as const, target: link }
  const left = hash === undefined ? linked : { type: 'file' as const, hash, mode }
  if (change !== 'moved') return [{ ...one, path, action: change, before, after: change === 'deleted' ? absent : left }]
  const after = left ?? (before?.type === 'link' ? before : null)
  const moved: Step = { ...one, path, action: 'renamed', before: replaced, after, movedFrom: from }
  return from === undefined ? [moved] : [moved, { ...one, path: from, action: 'deleted', before, after: absent }]
}

const restoreStep = ({ seq, at, path, after, movedFrom }: StoredRestore): Step => ({
  seq,
  at,
  path,
  after,
  movedFrom,
  call: null,
  action: null,
  before: null,
})

/** Returns what a path shows of its steps, newest first: none if it is as it was before the first. */
function touchedBy(steps: readonly Step[]): readonly TouchedFile[] {
  const [newest] = steps
  const changes = steps.filter(({ action }) => action !== null)
  const first = changes.at(-1)
  if (!newest?.after || newest.action !== null || !first) return toTouched(changes[0])
  const { after } = newest
  if (first.before && isSameState(first.before, after)) return []
  const same = changes.find((change) => change.after && isSameState(change.after, after))
  if (same) return toTouched(same)
  return toTouched(
    changes[0] && { ...changes[0], at: newest.at, action: after.type === 'absent' ? 'deleted' : 'modified' },
  )
}

type MovedPath = { readonly from: string | undefined; readonly hasLeft: boolean }

/** Returns what a path shows that moves reached or left: what is different in the end. */
function touchedByMove(steps: readonly Step[], { from, hasLeft }: MovedPath): readonly TouchedFile[] {
  const [newest] = steps
  const changes = steps.filter(({ action }) => action !== null)
  const step = changes[0]
  if (!step || !newest) return []
  if (from !== undefined) return toTouched({ ...step, action: 'renamed' }, from)
  const before = hasLeft ? absent : (changes.at(-1)?.before ?? null)
  const { after } = newest
  if (before && after && isSameState(before, after)) return []
  const action = before?.type === 'absent' ? 'created' : after?.type === 'absent' ? 'deleted' : 'modified'
  return toTouched({ ...step, action })
}

function toTouched(step: Step | undefined, from?: string): readonly TouchedFile[] {
  if (!step?.action) return []
  const { path, action, at, call: callId, during, child } = step
  return [
    {
      path,
      ...(from !== undefined && { from }),
      action,
      at,
      callId,
      ...(during && { during }),
      ...(child !== undefined && { child }),
    },
  ]
}

/** What a restore would do. */
export const RestorePreview = z.object({
  /** The files that it would change, each with a diff from now to then. */
  files: z.array(RestoredName.extend({ diff: z.string() })),
  /** The files that it would leave alone. */
  refused: z.array(RefusedFile),
})
export type RestorePreview = z.infer<typeof RestorePreview>

/** Which changes to show: those of a turn, of a call, or all of the session. */
export const DiffRequest = z.strictObject({
  /** Only changes of this turn of the line. */
  turn: TurnNumber.optional(),
  /** Only changes of this call. */
  call: CallId.optional(),
  /** Only this file. */
  path: z.string().min(1).max(limits.toolPathCharsMax).optional(),
  /** Shows what the session left, and not what others did to its files since. Who may only view always gets this. */
  recorded: z.boolean().optional(),
})
export type DiffRequest = z.infer<typeof DiffRequest>
/** Which changes to show, as a client writes it. */
export type DiffInput = z.input<typeof DiffRequest>

/** What a session did to a file, as one change. */
export const FileDiff = z.object({
  /** The path in the workdir; of a renamed file, the new one. */
  path: z.string(),
  /** The old path of a renamed file. */
  from: z.string().optional(),
  /** What happened to it from the first to the last of the changes. */
  change: z.enum(['created', 'modified', 'deleted', 'renamed']),
  /** A unified diff; a sentence for a binary or large file. */
  diff: z.string(),
  /** What the diff does not show: why there is none, or that others changed the file too. */
  note: z.string().optional(),
})
export type FileDiff = z.infer<typeof FileDiff>

/** Changes of files, one entry a file, in the order in which they were first changed. */
export const FileDiffs = z.object({ files: z.array(FileDiff) })
export type FileDiffs = z.infer<typeof FileDiffs>
