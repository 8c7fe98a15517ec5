import type { Result } from '@holdfast/protocol'

/** A file of the workdir, as it is now. */
export type WorkspaceFile = {
  /** Its path in the workdir, with links resolved. */
  readonly path: string
  /** Its whole content. */
  readonly bytes: Uint8Array
  /** Its permission bits. */
  readonly mode: number
}

/** Reads files of the workdir for people. Paths are confined like those of tools. */
export interface WorkspaceFiles {
  /** Returns the path in the workdir, with links resolved; nothing needs to exist there. Refused: outside_workdir. */
  locate(workdir: string, path: string): Promise<Result<string>>
  /** Reads a whole file. Refused: outside_workdir, not_found, too_large, and bad_request for what is no regular file. */
  read(workdir: string, path: string): Promise<Result<WorkspaceFile>>
}
