import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { CliContext } from './cli-context.ts'
import { type Output, OutputClosed } from './output.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the command of the user's pager: `HOLDFAST_PAGER`, else `PAGER`, else less. Null for none. */
export function pagerOf({ HOLDFAST_PAGER, PAGER, TERM }: Environment): string | null {
  const command = (HOLDFAST_PAGER ?? PAGER ?? 'less').trim()
  return command === '' || command === 'cat' || TERM === 'dumb' ? null : command
}

/** Returns whether the program of a command can be started. */
async function isInstalled(command: string, { PATH = '' }: Environment): Promise<boolean> {
  const [program = ''] = command.split(/\s+/)
  const places = program.includes('/') ? [program] : PATH.split(delimiter).map((folder) => join(folder, program))
  const found = await Promise.allSettled(places.map((place) => access(place, constants.X_OK)))
  return found.some(({ status }) => status === 'fulfilled')
}

/**
 * Runs `print` with an output that shows long text in the user's pager. Text that fits on the terminal, and text that is
 * not for a terminal, is printed as it is.
 */
export async function withPager<Value>(
  { out, environment }: Pick<CliContext, 'out' | 'environment'>,
  print: (out: Output) => Promise<Value>,
): Promise<Value> {
  const command = pagerOf(environment)
  if (out.rows === null || command === null || !(await isInstalled(command, environment))) return print(out)
  const paged = createPagedOutput(out, out.rows, () => startPager(command, environment))
  try {
    return await print(paged.output)
  } finally {
    await paged.end()
  }
}

/** Holds the first screen of text back. A pager gets it if more follows. */
function createPagedOutput(out: Output, rows: number, start: () => ChildProcess) {
  let held = ''
  let pager: ReturnType<typeof openPager> | null = null
  const write = async (text: string): Promise<void> => {
    if (pager) return pager.write(text)
    held += text
    if (held.split('\n', rows + 1).length <= rows) return
    pager = openPager(start())
    await pager.write(held)
  }
  const { isTerminal, columns, paint, wrap, writeJson } = out
  const tell = (sentences: string) => write(`${wrap(sentences)}\n`)
  return {
    output: { isTerminal, columns, rows, paint, write, wrap, tell, writeJson } satisfies Output,
    /** Prints what fits on the terminal, or waits until the user has left the pager. */
    end: () => (pager ? pager.close() : out.write(held)),
  }
}

function openPager(child: ChildProcess) {
  const ended = once(child, 'exit')
  const ignore = () => undefined
  process.on('SIGINT', ignore) // Ctrl-C is for the pager
  child.stdin?.on('error', ignore) // reported to the writer below
  return {
    write: (text: string) =>
      new Promise<void>((resolve, reject) => {
        const left = new OutputClosed('the user left the pager')
        child.stdin?.write(text, (error) => (error ? reject(left) : resolve()))
      }),
    async close(): Promise<void> {
      child.stdin?.end()
      await ended
      process.removeListener('SIGINT', ignore)
    },
  }
}

/** Starts it in a shell, because the variable may have arguments. Colours pass, and the text stays after it has ended. */
const startPager = (command: string, environment: Environment): ChildProcess =>
  spawn('sh', ['-c', command], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...process.env, LESS: 'FRX', ...environment },
  })
