import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Fault } from '@holdfast/protocol'
import type { WriterTask } from './child-writer.ts'
import type { Report, Witness } from './pass-criterion.ts'

/** A writer in its own process, with its output: the witness outside the faulted store. */
export interface WriterProcess {
  readonly process: ChildProcess
  /** Resolves after so many acknowledged appends, or when the writer ends. */
  acknowledged(count: number): Promise<void>
  /** Resolves at the first refusal, or when the writer ends. */
  refused(): Promise<void>
  /** Resolves when the writer has ended and all its output is read. */
  ended(): Promise<Ended>
  witnesses(): readonly Witness[]
  reports(): readonly Report[]
  acknowledgedCount(): number
}

export type Ended = {
  readonly code: number | null
  readonly signal: string | null
  /** Whether it completed its task. */
  readonly isDone: boolean
  readonly stderr: string
}

export type WriterOptions = {
  /** The command before `node`, such as strace or a limit. */
  readonly before?: readonly string[]
  readonly nodeFlags?: readonly string[]
  readonly env?: { readonly [name: string]: string }
}

const program = join(import.meta.dirname, 'child-writer.ts')

export function startWriter(
  task: WriterTask,
  { before = [], nodeFlags = [], env = {} }: WriterOptions = {},
): WriterProcess {
  const [command = process.execPath, ...args] = [...before, process.execPath]
  const child = spawn(command, [...args, ...nodeFlags, program, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const submitted = new Map<number, number>()
  const acknowledged = new Map<number, number>()
  const reports: Report[] = []
  const waiting = new Set<() => void>()
  let count = 0
  let isDone = false
  let isOver = false
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })

  function readLine(line: string): void {
    const [word, log = '0', upTo = '0', ms = '0', ...rest] = line.split(' ')
    if (word === 'try') submitted.set(Number(log), Math.max(Number(upTo), submitted.get(Number(log)) ?? 0))
    if (word === 'ack') {
      acknowledged.set(Number(log), Number(upTo))
      count += 1
    }
    if (word === 'no') reports.push({ fault: JSON.parse(rest.join(' ')) as Fault, afterMs: Number(ms) }) // written by this suite
    if (word === 'end') isDone = true
    for (const look of waiting) look()
  }

  async function listen(): Promise<Ended> {
    const ended = once(child, 'close')
    if (child.stdout !== null) for await (const line of createInterface({ input: child.stdout })) readLine(line)
    const [code, signal] = await ended
    isOver = true
    for (const look of waiting) look()
    return { code, signal, isDone, stderr }
  }
  const over = listen()

  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = () => {
        if (!isOver && !holds()) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })

  return {
    process: child,
    acknowledged: (enough) => until(() => count >= enough),
    refused: () => until(() => reports.length > 0),
    ended: () => over,
    witnesses: () =>
      [...submitted].map(([log, upTo]) => ({ log, submitted: upTo, acknowledged: acknowledged.get(log) ?? 0 })),
    reports: () => reports,
    acknowledgedCount: () => count,
  }
}
