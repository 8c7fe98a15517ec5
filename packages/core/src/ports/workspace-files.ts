import type {
  BeforeImage,
  BlobHash,
  FileLines,
  FileLinesRequest,
  FileState,
  LineRange,
  Result,
} from '@holdfast/protocol'
import type { BoundedFile, ToolBlobs } from './tool.ts'

/** A file of the workdir, as it is now. */
export type WorkspaceFile = {
  /** Its path in the workdir, with links resolved. */
  readonly path: string
  /** Its whole content. */
  readonly bytes: Uint8Array
  /** Its permission bits. */
  readonly mode: number
}

/** Reads, compares and restores files of the workdir for people. Paths are confined like those of tools. */
export interface WorkspaceFiles {
  /** Returns the path in the workdir, with links resolved; nothing needs to exist there. Refused: outside_workdir. */
  locate(workdir: string, path: string): Promise<Result<string>>
  /** Reads a whole file. Refused: outside_workdir, not_found, too_large, and bad_request for what is no regular file. */
  read(workdir: string, path: string): Promise<Result<WorkspaceFile>>
  /** Reads lines of a text file. Refused: as `read`, what belongs to Holdfast itself, and bad_request for binary files. */
  readLines(workdir: string, request: FileLinesRequest): Promise<Result<FileLines>>
  /** Returns where the lines of a boundary are in its file now. Refused: outside_boundary, if no line may be changed. */
  locateBoundary(workdir: string, bounded: CountedFile): Promise<Result<LineRange>>
  /** Stores what is at a path if `restore` may replace it, for an undo. Changes nothing. */
  keepForRestore(place: RestorePlace, wanted: WantedFile, run: RestoreRun): Promise<KeptForRestore>
  /**
   * Puts a file back if it is as expected. Its content until then is stored first. Confined, atomic and synced like the
   * changes of tools. Nothing is changed unless the outcome is `restored`.
   */
  restore(place: RestorePlace, wanted: WantedFile, run: RestoreRun): Promise<RestoreOutcome>
  /**
   * Returns what is at a path itself; links are not followed. Absent where a folder is, and below a file. Null if it is
   * too large, or no file of the workdir.
   */
  look(workdir: string, path: string): Promise<SeenEntry | null>
  /** Returns the diff of two contents for people: bounded, keys masked, off the event loop. Null is no file. */
  diff(pair: ContentPair, signal: AbortSignal): Promise<string>
  /** Returns what `restore` would do, with a diff from now to then. Changes nothing. */
  previewRestore(place: RestorePlace, wanted: WantedFile, run: Omit<RestoreRun, 'put'>): Promise<PreviewedRestore>
}

/** A file with an edit boundary, and the content that its lines were counted in; null if that is gone. */
export type CountedFile = Omit<BoundedFile, 'counted'> & { readonly counted: Uint8Array | null }

/** What is at a path, with the bytes of a file. */
export type SeenEntry = { readonly state: FileState; readonly bytes: Uint8Array | null }

/** Two contents of a file. Null: there is none. */
export type ContentPair = {
  /** The path in the workdir. */
  readonly path: string
  /** The path of the older content, if the file was moved. */
  readonly from?: string | undefined
  /** The older content. */
  readonly before: Uint8Array | null
  /** The newer content. */
  readonly after: Uint8Array | null
}

/** Where files are put back, and which of them have edit boundaries. */
export type RestorePlace = { readonly workdir: string; readonly boundaries: readonly BoundedFile[] }

/** What a call left at a path. The mode of a file is null if it was not recorded. */
export type LeftState =
  | Exclude<FileState, { readonly type: 'file' }>
  | { readonly type: 'file'; readonly hash: BlobHash; readonly mode: number | null }

/** What calls of a session did at one path. */
export type LeftPath = {
  /** What the first of them found there; null if that is not known. */
  readonly found: BeforeImage | null
  /** What the last of them left there; null if that is not known. */
  readonly left: LeftState | null
}

/** A file to put back: only what the session left there is replaced. */
export type WantedFile = {
  /** The path in the workdir, as it was recorded: with links resolved. */
  readonly path: string
  /** What must be there now. */
  readonly expected: LeftState
  /** What is to be there. */
  readonly target: FileState
  /** Whether the person named it. A file that decides what other programs run is put back only then. */
  readonly isNamed?: boolean | undefined
  /** Paths that the same restore removes first: files in a folder of its name, or one in place of its folder. */
  readonly clears?: readonly string[] | undefined
}

/** What a restore can use. */
export type RestoreRun = Pick<ToolBlobs, 'put'> & {
  /** Reads a blob of the session. Null: it is gone. */
  readonly read: (hash: BlobHash) => Promise<Uint8Array | null>
  /** Aborts when the restore is stopped. */
  readonly signal: AbortSignal
}

/** What happened to a file. `unchanged`: it already was as wanted. */
export type RestoreOutcome =
  | { readonly type: 'restored'; readonly before: FileState }
  | { readonly type: 'unchanged' }
  | { readonly type: 'refused'; readonly why: string }

/** What is at the path now, stored. `unchanged`: it already is as wanted. */
export type KeptForRestore =
  | { readonly type: 'kept'; readonly before: FileState }
  | Exclude<RestoreOutcome, { readonly type: 'restored' }>

/** What would happen to a file. */
export type PreviewedRestore =
  | { readonly type: 'restored'; readonly before: FileState; readonly diff: string }
  | Exclude<RestoreOutcome, { readonly type: 'restored' }>
