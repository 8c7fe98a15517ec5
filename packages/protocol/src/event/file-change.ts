import { z } from 'zod'
import { KeptBoundary } from '../value/boundary.ts'
import { BlobHash, CallId, Seq, SessionId } from '../value/id.ts'

const mode = z.int().min(0).max(0o7777)

/** What is at a path. */
export const FileState = z.discriminatedUnion('type', [
  z.object({ type: z.literal('absent') }),
  /** `hash` names the blob with its bytes; `mode` holds its permission bits. */
  z.object({ type: z.literal('file'), hash: BlobHash, mode }),
  z.object({ type: z.literal('link'), target: z.string() }),
])
export type FileState = z.infer<typeof FileState>

/** What was at a path before a call changed it. A blob with the bytes of a file is on stable storage before the change. */
export const BeforeImage = z.discriminatedUnion('type', [
  ...FileState.options,
  /** The change cannot be undone: `why` says for which reason. */
  z.object({ type: z.literal('not_kept'), why: z.string() }),
])
export type BeforeImage = z.infer<typeof BeforeImage>

/** A file that a call created, modified, deleted or moved. */
export const FileChange = z.object({
  /** The path in the workdir. Of a moved file, the new one. */
  path: z.string(),
  /** What happened to the file. */
  change: z.enum(['created', 'modified', 'deleted', 'moved']),
  /** The old path of a moved file. */
  from: z.string().optional(),
  /** Identifies the content that the call left there, as `contentHash` of a later call would. */
  contentHash: BlobHash.optional(),
  /** What was there before; of a moved file, what was at its old path. */
  before: BeforeImage.optional(),
  /** What was at the new path of a moved file, if it replaced something. */
  replaced: BeforeImage.optional(),
  /** The SHA-256 of the bytes after the change; absent if no regular file is there. */
  after: BlobHash.optional(),
  /** The permission bits of the file after the change, where they are known. */
  mode: mode.optional(),
  /** The target of the link that is there after the change. */
  link: z.string().optional(),
  /** Where the lines of its edit boundary are now, if it has one. */
  boundary: KeptBoundary.omit({ path: true }).optional(),
  /** Set if lines outside its edit boundary changed: a command can change any line. */
  outside: z.literal(true).optional(),
  /** Set if it was found at the end of a command in the background: the command changed it, or others did while it ran. */
  during: z.literal(true).optional(),
  /** The subagent that changed it; absent if the session itself did. */
  child: SessionId.optional(),
})
export type FileChange = z.infer<typeof FileChange>

/** A file that was put back. `before` is what an undo puts there again. */
export const RestoredFile = z.object({
  /** The path in the workdir. */
  path: z.string(),
  /** What was there until then. */
  before: FileState,
  /** What is there now. */
  after: FileState,
  /** The path that the file was at until then, if a move was put back. */
  movedFrom: z.string().optional(),
})
export type RestoredFile = z.infer<typeof RestoredFile>

/** A file that was not put back. */
export const RefusedFile = z.object({
  /** The path in the workdir. */
  path: z.string(),
  /** The reason, as a sentence. */
  why: z.string(),
})
export type RefusedFile = z.infer<typeof RefusedFile>

export const fileEvents = [
  /**
   * What a call did to files before it was aborted, or in the background: it was settled before this was known. Or what the
   * shell commands of a slash command did, also if its prompt was refused.
   */
  z.object({
    type: z.literal('files.touched'),
    /** The call; absent for a slash command. */
    call: CallId.optional(),
    /** The name of the slash command. */
    slashCommand: z.string().optional(),
    files: z.array(FileChange).min(1),
  }),
  /** A restore is about to change these files. Recorded before the first of them is changed. */
  z.object({
    type: z.literal('files.restore_started'),
    /** What is at each path, and what is to be there. Also files that an interrupted restore had changed already. */
    items: z.array(RestoredFile),
    /** The restore that this one undoes. */
    undoOf: Seq.optional(),
  }),
  /** A person put files back as they were before changes of this session. The content until then is kept for an undo. */
  z.object({
    type: z.literal('files.restored'),
    items: z.array(RestoredFile),
    /** The files that stayed as they are: others changed them meanwhile, for example. */
    refused: z.array(RefusedFile),
    /** The restore that this one undoes. */
    undoOf: Seq.optional(),
    /** The record that began it; absent if no file had to be changed. */
    started: Seq.optional(),
  }),
] as const

/** What a restore does to a file. */
export const RestoreAction = z.enum(['restore', 'recreate', 'delete', 'none'])
export type RestoreAction = z.infer<typeof RestoreAction>

/** A file that a restore changed, or would change. */
export const RestoredName = z.object({
  /** The path in the workdir. */
  path: z.string(),
  /** What happens to the file; `none` if it is already as wanted. */
  action: RestoreAction,
  /** The path that it comes back from, if a move is put back. */
  movedFrom: z.string().optional(),
  /** The path that its file goes back to, if a move is put back. */
  movedTo: z.string().optional(),
})
export type RestoredName = z.infer<typeof RestoredName>

/** Returns what happens to a file that becomes `after`. */
export function restoreAction({ before, after }: Pick<RestoredFile, 'before' | 'after'>): RestoreAction {
  if (before.type === 'absent') return after.type === 'absent' ? 'none' : 'recreate'
  if (after.type === 'absent') return 'delete'
  return isSameState(before, after) ? 'none' : 'restore'
}

/** Returns what a restore did to each file. A move that was put back names both its paths. */
export function restoredNames(items: readonly RestoredFile[]): RestoredName[] {
  const movedTo = new Map(items.flatMap(({ path, movedFrom }) => (movedFrom === undefined ? [] : [[movedFrom, path]])))
  return items.map((item) => {
    const to = movedTo.get(item.path)
    return {
      path: item.path,
      action: restoreAction(item),
      ...(item.movedFrom !== undefined && { movedFrom: item.movedFrom }),
      ...(to !== undefined && { movedTo: to }),
    }
  })
}

/** Returns whether this is the half of an undone move that the entry with `movedFrom` already describes. */
export const isLeftByMove = ({ action, movedTo }: RestoredName): boolean => action === 'delete' && movedTo !== undefined

type AnyState = BeforeImage | { readonly type: 'file'; readonly hash: BlobHash; readonly mode: number | null }

/**
 * Whether two states are the same. Setuid and setgid do not count: a restore never sets them. A mode that is null was not
 * recorded and matches any; content that was not kept matches nothing.
 */
export function isSameState(one: AnyState, other: AnyState): boolean {
  if (one.type === 'file') return other.type === 'file' && one.hash === other.hash && isSameMode(one.mode, other.mode)
  if (one.type === 'link') return other.type === 'link' && one.target === other.target
  return one.type === 'absent' && other.type === 'absent'
}

const isSameMode = (one: number | null, other: number | null): boolean =>
  one === null || other === null || withoutSetId(one) === withoutSetId(other)

/** Returns the mode without setuid and setgid. */
export const withoutSetId = (mode: number): number => mode & 0o1777
