import { systemErrorCode } from '../system/system-error.ts'
import type { ProcessRecords } from '../tools/program/process-records.ts'
import { type Program, startProgram } from '../tools/program/program.ts'
import type { HookEnd } from './hook-answer.ts'

/** A program that runs at an event. */
export type CommandHook = {
  /** A command for the shell, or the program to run if there are `args`. */
  readonly command: string
  /** The arguments of the program, which then runs without a shell. */
  readonly args?: readonly string[] | undefined
  readonly timeoutMs?: number | undefined
}

type RunOptions = {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** The root of the workspace, which scripts know as `CLAUDE_PROJECT_DIR`. */
  readonly projectDir?: string | undefined
  readonly records?: Pick<ProcessRecords, 'add' | 'remove'> | null | undefined
  readonly signal: AbortSignal
}

export const hookTimeoutMs = 30_000
const outputBytesMax = 1024 * 1024
/** How long the rest of its output may take after its exit: a process that it left behind may hold the pipe for ever. */
const restMs = 100

/**
 * Runs a hook with its input as JSON on standard input. It has ended when its process exits, and its whole process group ends
 * with it. What a tool is asked to do is never part of the command.
 */
export async function runHook(
  { command, args, timeoutMs = hookTimeoutMs }: CommandHook,
  input: unknown,
  { cwd, environment, projectDir = cwd, records, signal }: RunOptions,
): Promise<HookEnd> {
  // The shell expands the variable itself; a path put into its command could be read as something else.
  const [program, given] =
    args === undefined
      ? ['/bin/sh', ['-c', command]]
      : [fill(command, projectDir), args.map((arg) => fill(arg, projectDir))]
  const errors = { bytes: 0 }
  let running: Program
  try {
    running = await startProgram(program, given, {
      cwd,
      signal,
      timeoutMs,
      records,
      environment: { ...environment, CLAUDE_PROJECT_DIR: projectDir },
      input: JSON.stringify(input),
      onErrors: (chunk) => {
        errors.bytes += chunk.length
        if (errors.bytes > outputBytesMax) running?.stop()
      },
    })
  } catch (cause) {
    const code = systemErrorCode(cause)
    if (code === null) throw cause
    return { type: 'failed', why: `the hook cannot be started: ${code}`, stdout: '', stderr: '' }
  }
  const output = readOutput(running)
  const { type, code, errors: stderr } = await running.ended
  const { text: stdout, isTooLong } = await output.end()
  const failed = (why: string): HookEnd => ({ type: 'failed', why, stdout, stderr })
  if (isTooLong || errors.bytes > outputBytesMax) return failed(`the hook printed more than ${outputBytesMax} bytes`)
  return type === 'exited' && code !== null ? { type: 'exited', code, stdout, stderr } : failed(reasons[type])
}

const fill = (text: string, projectDir: string): string =>
  text.replaceAll(/\$\{?CLAUDE_PROJECT_DIR\}?/g, () => projectDir)

const reasons = {
  'timed out': 'the hook took too long',
  aborted: 'the turn was stopped',
  killed: 'the hook was ended by a signal',
  stopped: 'the hook was stopped',
  exited: 'the hook ended',
} as const

/** Collects the output of a program, and stops one that prints too much. */
function readOutput(program: Program) {
  const chunks: Buffer[] = []
  let bytes = 0
  const reading = (async () => {
    for await (const chunk of program.output) {
      bytes += chunk.length
      if (bytes <= outputBytesMax) chunks.push(chunk)
      else program.stop()
    }
  })()
  return {
    /** Returns what was read a moment after the program's end. */
    async end(): Promise<{ readonly text: string; readonly isTooLong: boolean }> {
      let timer: NodeJS.Timeout | undefined
      const rest = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, restMs)
      })
      await Promise.race([reading, rest])
      clearTimeout(timer)
      return { text: Buffer.concat(chunks).toString('utf8'), isTooLong: bytes > outputBytesMax }
    },
  }
}
