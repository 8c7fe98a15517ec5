import type { Result, SessionId } from '@holdfast/protocol'
import type { ImportHost } from './import-host.ts'

/** What an import uses: the host, and what it can do by itself. */
export type ImportDeps = ImportHost & {
  readonly newSessionId: () => SessionId
  readonly newHandle: (attempt: number) => string
  readonly now: () => number
  /** Returns the real path of an existing directory. Refused: bad_workdir. */
  readonly resolveWorkdir: (path: string) => Result<string> | Promise<Result<string>>
  /** The home directories of this user, by their real paths. */
  readonly homes: readonly string[]
  /** The model of a session that names none that can be used. */
  readonly defaultModel: string
}
