import { clip, errorMessage } from '@holdfast/protocol'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { ProcessRecords } from '../program/process-records.ts'
import { type Program, type ProgramEnd, startProgram } from '../program/program.ts'
import type { McpLibrary } from './library.ts'
import type { McpConnect } from './server-config.ts'

type StdioOptions = {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly records: Pick<ProcessRecords, 'add' | 'remove'> | null
}

/** The longest message of a server. A longer one ends the connection. */
const messageBytesMax = 8 * 1024 * 1024
/** How long a server may clean up after SIGTERM. */
const graceMs = 500

/**
 * Starts a server and talks to it over stdin and stdout. Unlike the library's transport, it gives the server a process group,
 * which ends with it, and puts the group on record, so that the next start ends what a crash of ours left.
 */
export function createStdioTransport(
  { ReadBuffer, serializeMessage }: McpLibrary,
  { command, args, env }: Extract<McpConnect, { type: 'stdio' }>,
  { cwd, environment, records }: StdioOptions,
): Transport & { readonly whyEnded: () => string | null } {
  const buffer = new ReadBuffer({ maxBufferSize: messageBytesMax })
  const stopped = new AbortController()
  let program: Program | null = null
  let reading: Promise<void> = Promise.resolve()
  let whyEnded: string | null = null

  async function read(running: Program): Promise<void> {
    try {
      for await (const chunk of running.output) {
        buffer.append(chunk)
        for (let next = nextMessage(); next !== null; next = nextMessage()) transport.onmessage?.(next)
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

  /** Returns the next whole message. A line that is none is skipped: some servers print greetings. */
  function nextMessage(): JSONRPCMessage | null {
    for (;;) {
      try {
        return buffer.readMessage()
      } catch (error) {
        transport.onerror?.(error instanceof Error ? error : new Error(String(error)))
      }
    }
  }

  const transport: Transport & { readonly whyEnded: () => string | null } = {
    whyEnded: () => whyEnded,
    async start() {
      program = await startProgram(command, args, {
        ...{ cwd, graceMs, records, signal: stopped.signal, keepsInputOpen: true },
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

const errorsCharsMax = 1000

/** Says how the program ended. If we closed it, only what it wrote to stderr can say more; null if it wrote nothing. */
function describeEnd(type: ProgramEnd['type'] | 'closed', code: number | null, errors: string): string | null {
  const said = clip(errors, errorsCharsMax)
  if (type === 'closed') return said || null
  const how = code === null ? `it was ${type}` : `it ended with exit code ${code}`
  return said === '' ? how : `${how}: ${said}`
}
