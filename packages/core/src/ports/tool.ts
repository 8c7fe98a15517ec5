import type { FileChange, Output, Preview, ProcessMark, Result } from '@holdfast/protocol'
import type { ToolSchema } from './provider.ts'

export type ToolArgs = { readonly [key: string]: unknown }

/** Where a tool may work. */
export type ToolPlace = { readonly workdir: string }

/** What is found out about a call before anyone is asked: what would run, or why it cannot. */
export type Prepared =
  | { readonly type: 'ready'; readonly args: ToolArgs; readonly preview: Preview }
  /** Arguments that do not fit, a path outside, a file that is not there: an error result, never a crash. */
  | { readonly type: 'unusable'; readonly message: string }

export type ToolRun = {
  readonly signal: AbortSignal
  /**
   * Must be awaited before the tool changes anything: it resolves once the intent is on stable storage,
   * and rejects if the call is no longer wanted. A tool that starts a process names it here.
   */
  readonly begin: (process?: ProcessMark) => Promise<void>
  /** Live output, for whoever is watching. */
  readonly show: (text: string) => void
  /** Keeps what is too long to hold inline; `text` gets head, marker and tail. */
  readonly keep: (output: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) => Promise<Output>
}

export type ToolResult = {
  readonly type: 'ok' | 'failed'
  readonly output: Output
  readonly files?: readonly FileChange[] | undefined
  /** What got away and still runs, in a sentence for people. */
  readonly leftRunning?: string | undefined
}

/** Something the agent may do. */
export interface Tool {
  readonly schema: ToolSchema
  /** Changes something; refused in plan mode and asked for in exec mode. */
  readonly isDestructive: boolean
  readonly isReadOnly: boolean
  /** Looks, and changes nothing. May run again after a crash. */
  prepare(args: ToolArgs, place: ToolPlace): Promise<Prepared>
  /** Does it. Checks again what `prepare` checked: the world may have moved. */
  run(args: ToolArgs, place: ToolPlace, run: ToolRun): Promise<ToolResult>
}

export interface Tools {
  readonly all: readonly Tool[]
  find(name: string): Tool | null
  /** Ends what a dead process of ours left running, if it is still the same process. */
  endLeftover(process: ProcessMark): Promise<void>
}

/** Notes the session writes into its workdir for people, beside what its tools do. */
export interface SummaryFiles {
  /** Writes a note under a name made of the date and the title, never over another. Returns its path in the workdir. */
  save(workdir: string, title: string, text: string): Promise<Result<string>>
}

/** What a session's model is told apart from messages: the system text, gathered anew for each step. */
export interface Instructions {
  gather(session: {
    readonly workdir: string
    readonly mode: 'exec' | 'plan'
    readonly added: string | null
  }): Promise<string>
}
