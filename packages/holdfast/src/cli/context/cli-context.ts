import type { Logger } from '../../observe/logging/logger.ts'
import type { Environment, Home } from '../../system/home.ts'
import type { OnCrash } from '../terminal/crash-report.ts'
import type { Output } from '../terminal/output.ts'
import type { Input } from '../terminal/prompt-user.ts'

/** What a command is given of the world. Read from the process once, in main.ts. */
export type CliContext = {
  readonly environment: Environment
  readonly home: Home
  /** The store that was asked for, by flag or environment; the home's own when nobody asked. */
  readonly store: string | undefined
  readonly version: string
  /** Where the built page lies. */
  readonly pageDir: string
  readonly pid: number
  readonly now: () => number
  /** The current directory; throws where it has been removed. */
  readonly cwd: () => string
  /** Standard input, opened only by who reads it. */
  readonly input: () => Input
  readonly out: Output
  readonly err: Output
  /** The command's log, if it keeps one. */
  readonly logger?: Logger | undefined
  /** Adds someone who is told when the process ends by what nobody caught. */
  readonly onCrash: OnCrash
  /** From now on the first Ctrl-C or request to end aborts this signal, and the second ends the process at once. */
  readonly untilInterrupted: () => AbortSignal
}
