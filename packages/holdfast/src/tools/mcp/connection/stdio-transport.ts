import { clip, errorMessage } from '@holdfast/protocol'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { ProcessRecords } from '../../program/process-records.ts'
import { type Program, type ProgramEnd, startProgram } from '../../program/program.ts'
import type { McpConnect } from '../config/server-config.ts'
import type { McpLibrary } from './library.ts'

type StdioTransport = Transport & {
  readonly whyEnded: () => string | null
  /** Ends the server, and says why. */
  readonly end: (why: string) => void
}

type StdioOptions = {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly records: Pick<ProcessRecords, 'add' | 'remove'> | null
}

/** The longest message of a server. A longer one ends the connection. */
export const messageBytesMax = 4 * 1024 * 1024
/** How long a server may clean up after SIGTERM. */
const graceMs = 500

/**
 * Starts a server and talks to it over stdin and stdout. Unlike the library's transport, it gives the server a process group,
 * which ends with it, and puts the group on record, so that the next start ends what a crash of ours left.
 */
export function createStdioTransport(
  { serializeMessage }: Pick<McpLibrary, 'serializeMessage'>,
  { command, args, env }: Extract<McpConnect, { type: 'stdio' }>,
  { cwd, environment, records }: StdioOptions,
): StdioTransport {
  const lines = createLineReader()
  const noise = createNoiseLimit()
  const stopped = new AbortController()
  let program: Program | null = null
  let reading: Promise<void> = Promise.resolve()
  let whyEnded: string | null = null

  async function read(running: Program): Promise<void> {
    try {
      for await (const chunk of running.output) {
        for (const line of lines.add(chunk)) {
          const message = readMessage(line)
          if (message === null) noise.add(line)
          else {
            noise.clear()
            transport.onmessage?.(message)
          }
        }
      }
    } catch (error) {
      whyEnded = errorMessage(error)
      transport.onerror?.(error instanceof Error ? error : new Error(String(error)))
      running.stop()
    }
    const { type, code, errors } = await running.ended
    whyEnded ??= describeEnd(stopped.signal.aborted ? 'closed' : type, code, errors)
    transport.onclose?.()
  }

  const transport: StdioTransport = {
    whyEnded: () => whyEnded,
    end(why) {
      whyEnded ??= why
      program?.stop()
    },
    async start() {
      program = await startProgram(command, args, {
        cwd,
        graceMs,
        records,
        signal: stopped.signal,
        keepsInputOpen: true,
        environment: { ...environment, ...env },
      })
      reading = read(program)
    },
    async send(message) {
      if (program === null) throw new Error('the server has not started')
      await program.write(serializeMessage(message))
    },
    async close() {
      stopped.abort()
      await reading
    },
  }
  return transport
}

/** Splits output into lines. Throws if one is longer than a message may be. */
function createLineReader() {
  let parts: Buffer[] = []
  let bytes = 0
  const keep = (part: Buffer): void => {
    bytes += part.length
    if (bytes > messageBytesMax) throw new Error(`it sent a message of more than ${messageBytesMax} bytes`)
    parts.push(part)
  }
  return {
    *add(chunk: Buffer): Generator<string> {
      let from = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        keep(chunk.subarray(from, end))
        yield Buffer.concat(parts).toString('utf8')
        parts = []
        bytes = 0
        from = end + 1
      }
      keep(chunk.subarray(from))
    },
  }
}

/** What a server may print between two messages that is none: it would keep us busy without end. */
const noiseMax = { lines: 10_000, chars: 1024 * 1024 }

/** Counts lines that are no messages. Throws if they are too many. */
function createNoiseLimit() {
  let [lines, chars] = [0, 0]
  return {
    add(line: string): void {
      lines += 1
      chars += line.length
      if (lines > noiseMax.lines || chars > noiseMax.chars)
        throw new Error('it prints text that is not of the protocol, without end')
    },
    clear(): void {
      lines = 0
      chars = 0
    },
  }
}

/** Returns the message of a line; null if it is none: some servers print greetings. */
function readMessage(line: string): JSONRPCMessage | null {
  if (!/^\s*[[{]/.test(line)) return null
  let message: unknown
  try {
    message = JSON.parse(line)
  } catch {
    return null
  }
  return typeof message === 'object' && message !== null ? (message as JSONRPCMessage) : null // the library checks it
}

const errorsCharsMax = 1000

/** Says how the program ended. If we closed it, only what it wrote to stderr can say more; null if it wrote nothing. */
function describeEnd(type: ProgramEnd['type'] | 'closed', code: number | null, errors: string): string | null {
  const said = clip(errors, errorsCharsMax)
  if (type === 'closed') return said || null
  const how = code === null ? `it was ${type}` : `it ended with exit code ${code}`
  return said === '' ? how : `${how}: ${said}`
}
