import type { Logger } from '../../observe/logging/logger.ts'
import type { Environment, Home } from '../../system/home.ts'
import type { OnCrash } from './crash-report.ts'
import type { Output } from './output.ts'
import type { Input } from './prompt-user.ts'

/** A server that `--url` names, with its token if there is one. */
export type GivenServer = { readonly url: string; readonly token: string | undefined }

/** Standard output as a screen: its size, and when it changes. */
export type ScreenStream = {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  readonly writableNeedDrain?: boolean
  write(text: string): boolean
  on(event: 'resize' | 'drain', listener: () => void): unknown
  off(event: 'resize' | 'drain', listener: () => void): unknown
}

/** Everything a command gets from its process. Built once, in main.ts. */
export type CliContext = {
  readonly environment: Environment
  readonly home: Home
  /** The store named by flag or environment; undefined for the one of the home. */
  readonly store: string | undefined
  /** The server named by `--url`; undefined for the store or the server of this home. */
  readonly server?: GivenServer | undefined
  readonly version: string
  /** The directory of the built page. */
  readonly pageDir: string
  readonly pid: number
  readonly now: () => number
  /** Returns the current directory; throws if it was removed. */
  readonly cwd: () => string
  /** Opens standard input. */
  readonly input: () => Input
  /** Opens the terminal at which a person can be asked, also if something is piped in; null if there is none. */
  readonly keyboard: () => Input | null
  readonly out: Output
  /** Opens standard output as a screen, for the terminal UI; absent where there is no terminal. */
  readonly screen?: (() => ScreenStream) | undefined
  readonly err: Output
  /** The command's log, if logging is on. */
  readonly logger?: Logger | undefined
  /** Adds a listener for uncaught errors. */
  readonly onCrash: OnCrash
  /** Returns a signal that aborts at the first Ctrl-C, SIGTERM or SIGHUP, with its name. The second one ends the process. */
  readonly untilInterrupted: () => AbortSignal
}
