import { errorMessage } from '@holdfast/protocol'
import type { Client, ElicitRequest, ElicitResult, Transport } from '@modelcontextprotocol/client'
import type { ProcessRecords } from '../../program/process-records.ts'
import { expandConnect, type McpConnect, type McpServer } from '../config/server-config.ts'
import { createSessionAuth, NeedsSignIn } from '../sign-in/session-auth.ts'
import type { SignIns } from '../sign-in/sign-ins.ts'
import { boundLists, boundMessages, boundSends } from './bounded-client.ts'
import { loadMcpLibrary, type McpLibrary } from './library.ts'
import { createStdioTransport, messageBytesMax } from './stdio-transport.ts'

/** What a client of a server needs. */
export type ClientDeps = {
  readonly cwd: string
  /** The variables that the configuration may name. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The variables that a started server gets. */
  readonly passed: Readonly<Record<string, string>>
  /** What people have signed in to. */
  readonly credentials: SignIns
  readonly records: Pick<ProcessRecords, 'add' | 'remove'> | null
  /** Called when the server says that it offers something else now. */
  readonly onChanged: () => void
  /** Puts a question of the server to a person. */
  readonly onElicit: (params: ElicitRequest['params']) => Promise<ElicitResult>
}

/** A client that is connected. */
export type OpenClient = {
  readonly client: Client
  /** Resolves when the connection has ended: with the reason, or null if it was closed. */
  readonly ended: Promise<string | null>
  /** Why the program of the server ended, if it did. */
  readonly whyEnded: () => string | null
  /** Why a person must sign in to the server; null if nobody must. */
  readonly whySignIn: () => string | null
  /** Whether the last answer to a list was longer than what is used of it. */
  readonly isCut: (method: string) => boolean
  close(): Promise<void>
}

/** A server that cannot be reached by its configuration, whatever one tries. */
export class WrongConfiguration extends Error {
  override readonly name = 'WrongConfiguration'
}

const connectMs = 20_000

/** Starts a server, or connects to it. Rejects with the reason if that fails. */
export async function openClient(server: McpServer, deps: ClientDeps, signal: AbortSignal): Promise<OpenClient> {
  const connect = expandConnect(server, deps.environment)
  if (!connect.ok) throw new WrongConfiguration(connect.fault.message)
  const library = await loadMcpLibrary()
  const { transport, whyEnded, whySignIn, end } = createTransport(library, server.name, connect.value, deps)
  const changed = { autoRefresh: false, onChanged: deps.onChanged } // `onChanged` asks for the lists itself
  const client = new library.Client(
    { name: 'holdfast', version: '0' }, // servers only log it
    {
      capabilities: { elicitation: { form: { applyDefaults: true }, url: {} } },
      // To find out the version, a program would be started twice. Over HTTP it is one more request.
      ...(connect.value.type === 'http' && { versionNegotiation: { mode: 'auto' } }),
      listChanged: { tools: changed, prompts: changed },
      jsonSchemaValidator: uncheckedOutput,
    },
  )
  const isCut = boundLists(client)
  client.setRequestHandler('elicitation/create', ({ params }) => deps.onElicit(params))
  const { promise: ended, resolve } = Promise.withResolvers<string | null>()
  let isClosing = false
  client.onclose = () => resolve(isClosing ? null : (whyEnded() ?? 'the connection was closed'))
  const lost = watchHttp(library, () => resolve('the server does not know this connection any more'))
  client.onerror = lost // reported by the call that it fails
  const close = async () => {
    isClosing = true
    await client.close()
  }
  try {
    await client.connect(transport, { timeout: connectMs, signal })
  } catch (error) {
    await close().catch(() => undefined) // the first error is the one to report
    const why = whySignIn()
    if (why !== null) throw new NeedsSignIn(why)
    throw new Error(whyEnded() ?? errorMessage(error), { cause: error })
  }
  boundMessages(transport, end)
  return { client, ended, whyEnded, whySignIn, isCut, close }
}

/** Takes any structured content: the pattern of a server's schema can keep the process busy for ever, and only text is used. */
const uncheckedOutput: NonNullable<NonNullable<ConstructorParameters<McpLibrary['Client']>[1]>['jsonSchemaValidator']> =
  {
    getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
  }

/** An HTTP server that was restarted answers 400 or 404 for ever, and nothing closes the connection. */
const watchHttp =
  ({ SdkHttpError }: McpLibrary, onLost: () => void) =>
  (error: Error): void => {
    if (error instanceof SdkHttpError && (error.status === 400 || error.status === 404)) onLost()
  }

function createTransport(library: McpLibrary, server: string, connect: McpConnect, deps: ClientDeps): Transporting {
  if (connect.type === 'stdio') {
    const { cwd, passed, records } = deps
    const transport = createStdioTransport(library, connect, { cwd, environment: passed, records })
    const { end, whyEnded } = transport
    return { transport: boundSends(transport, end), whyEnded, whySignIn: () => null, end }
  }
  const url = URL.parse(connect.url)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new WrongConfiguration(`${JSON.stringify(connect.url)} is not an http or https URL`)
  const { headers, oauth: config = {} } = connect
  const requestInit = { headers: { ...headers } }
  let why: string | null = null
  let opened: Transport | null = null
  const end = (reason: string) => {
    why ??= reason
    void opened?.close()
  }
  const fetchHere = (input: string | URL, init?: RequestInit) => fetchBounded(end, input, init)
  const bounded = (transport: Transport): Transporting => {
    opened = boundSends(transport, end)
    return { transport: opened, whyEnded: () => why, whySignIn: () => null, end }
  }
  // A token of the configuration is the only one: nobody can sign in to replace it.
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) {
    return bounded(new library.StreamableHTTPClientTransport(url, { requestInit, fetch: fetchHere }))
  }
  const auth = createSessionAuth({ library, server, url: url.href, credentials: deps.credentials, config })
  const fetchSigned = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const answer = await fetchHere(input, init)
    await auth.onAnswer(answer)
    return answer
  }
  const transport = new library.StreamableHTTPClientTransport(url, {
    requestInit,
    fetch: fetchSigned,
    authProvider: auth,
  })
  return { ...bounded(transport), whySignIn: auth.whySignIn }
}

/** Fetches, and ends the connection when a message of an answer is too long. */
async function fetchBounded(end: (why: string) => void, url: string | URL, init?: RequestInit): Promise<Response> {
  const answer = await fetch(url, init)
  if (answer.body === null) return answer
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  const { status, statusText, headers } = answer
  return new Response(answer.body.pipeThrough(createByteLimit(isStream, end)), { status, statusText, headers })
}

/** Passes bytes on until a message is too long. An event of a stream ends with an empty line; any other answer is one message. */
function createByteLimit(isStream: boolean, onExcess: (why: string) => void): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? endOfEvents(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)) : -1
      bytes = end < 0 ? bytes + chunk.byteLength : chunk.byteLength - end
      if (bytes <= messageBytesMax) return controller.enqueue(chunk)
      const why = `it sent a message of more than ${messageBytesMax} bytes`
      controller.error(new Error(why))
      onExcess(why) // the library would wait for the answer
    },
  })
}

const endOfEvents = (chunk: Buffer): number =>
  Math.max(...['\n\n', '\r\n\r\n', '\r\r'].map((emptyLine) => chunk.lastIndexOf(emptyLine)))

type Transporting = Pick<OpenClient, 'whyEnded' | 'whySignIn'> & {
  readonly transport: Transport
  /** Ends the connection, and says why. */
  readonly end: (why: string) => void
}
