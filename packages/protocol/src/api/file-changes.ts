import { z } from 'zod'
import { FileChange, RefusedFile, RestoredName } from '../event/file-change.ts'
import { CallId, Instant, Seq, TurnNumber } from '../value/id.ts'
import { limits } from '../value/limits.ts'

/** A change to a file of the workdir, as a call of the session made it. */
export const StoredFileChange = FileChange.omit({ contentHash: true, boundary: true }).extend({
  /** The seq of the record that has it. */
  seq: Seq,
  /** When it was recorded. */
  at: Instant,
  /** The call that changed the file. */
  call: CallId,
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

/** A page of file changes, newest first. `before` is the cursor of the next page, null at the end. */
export const FileChangePage = z.object({ changes: z.array(StoredFileChange), before: Seq.nullable() })
export type FileChangePage = z.infer<typeof FileChangePage>

/** A file that a session changed, with its newest change. */
export const TouchedFile = z.object({
  /** The path in the workdir. */
  path: z.string(),
  /** What happened to it last. */
  action: z.enum(['created', 'modified', 'deleted', 'renamed']),
  /** When that was. */
  at: Instant,
  /** The call that did it. */
  callId: CallId,
})
export type TouchedFile = z.infer<typeof TouchedFile>

/** Returns the newest change of each file, newest first. `changes` are newest first too. */
export function listTouched(changes: Iterable<StoredFileChange>): readonly TouchedFile[] {
  const touched = new Map<string, TouchedFile>()
  const add = (path: string, action: TouchedFile['action'], { at, call }: StoredFileChange) => {
    if (!touched.has(path)) touched.set(path, { path, action, at, callId: call })
  }
  for (const change of changes) {
    if (change.change === 'moved') {
      add(change.path, 'renamed', change)
      if (change.from !== undefined) add(change.from, 'deleted', change)
    } else add(change.path, change.change, change)
  }
  return [...touched.values()]
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
})
export type DiffRequest = z.infer<typeof DiffRequest>
/** Which changes to show, as a client writes it. */
export type DiffInput = z.input<typeof DiffRequest>

/** What a session did to a file, as one change. */
export const FileDiff = z.object({
  /** The path in the workdir. */
  path: z.string(),
  /** What happened to it from the first to the last of the changes. */
  change: z.enum(['created', 'modified', 'deleted']),
  /** A unified diff; a sentence for a binary or large file. */
  diff: z.string(),
  /** What the diff does not show: why there is none, or that others changed the file too. */
  note: z.string().optional(),
})
export type FileDiff = z.infer<typeof FileDiff>

/** Changes of files, one entry a path, in the order in which they were first changed. */
export const FileDiffs = z.object({ files: z.array(FileDiff) })
export type FileDiffs = z.infer<typeof FileDiffs>
