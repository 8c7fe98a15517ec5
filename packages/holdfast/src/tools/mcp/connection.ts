import { setTimeout as delay } from 'node:timers/promises'
import { errorMessage, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { Client, Progress, Prompt, Tool as ServerTool } from '@modelcontextprotocol/client'
import { type ClientDeps, type OpenClient, openClient, WrongConfiguration } from './open-client.ts'
import type { McpServer } from './server-config.ts'

export type { Progress, Prompt, ServerTool }

/** What a server offers. */
export type ServerOffer = {
  readonly tools: readonly ServerTool[]
  readonly prompts: readonly Prompt[]
  /** What the server says about its use. */
  readonly about: string | null
}

/** The result of a call, as the server returned it. */
export type ServerResult = Awaited<ReturnType<Client['callTool']>>
export type PromptMessages = Awaited<ReturnType<Client['getPrompt']>>['messages']

type CallOptions = { readonly signal: AbortSignal; readonly onProgress?: ((progress: Progress) => void) | undefined }

/** `stopped`: it starts when it is needed. */
export type ConnectionState =
  | { readonly type: 'stopped' | 'starting' | 'ready' }
  | { readonly type: 'failed'; readonly why: string }

/**
 * A server that starts when it is first needed, stops when nobody has needed it for a while, and starts again. Everything is
 * refused with `mcp_failed` if the server cannot be reached, fails, or does not answer in time.
 */
export interface McpConnection {
  readonly state: () => ConnectionState
  /** Asks the server what it offers. Tries once to reach it. */
  list(signal: AbortSignal): Promise<Result<ServerOffer>>
  call(tool: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<Result<ServerResult>>
  getPrompt(name: string, args: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Result<PromptMessages>>
  close(): Promise<void>
}

type ConnectionDeps = ClientDeps & { readonly idleMs?: number | undefined }

const answerMs = 20_000
const idleStopMs = 10 * 60_000
/** How long a call may take without progress. */
const callMs = { stdio: 30 * 60_000, http: 5 * 60_000 }
/** The waits between the tries to reach a server. */
const pausesMs = [1000, 2000, 4000, 8000]

export function createConnection(server: McpServer, deps: ConnectionDeps): McpConnection {
  const { name } = server
  let state: ConnectionState = { type: 'stopped' }
  let opening: Promise<OpenClient> | null = null
  const closing = new AbortController()
  let users = 0
  let timer: NodeJS.Timeout | undefined

  /** Returns the open client, or opens one. All that wait share one attempt, which ends by its own time limit. */
  function open(): Promise<OpenClient> {
    if (opening !== null) return opening
    state = { type: 'starting' }
    const attempt = openClient(server, deps, closing.signal)
    opening = attempt
    const forget = (next: ConnectionState) => {
      if (opening !== attempt) return
      opening = null
      state = next
    }
    attempt.then(
      (opened) => {
        if (opening === attempt) state = { type: 'ready' }
        void opened.ended.then((why) => forget(why === null ? { type: 'stopped' } : { type: 'failed', why }))
      },
      (error) => forget({ type: 'failed', why: errorMessage(error) }),
    )
    return attempt
  }

  /** Reaches the server, again after a pause if that fails. */
  async function reach(signal: AbortSignal): Promise<OpenClient> {
    for (const pauseMs of pausesMs) {
      try {
        return await open()
      } catch (error) {
        if (signal.aborted || closing.signal.aborted || error instanceof WrongConfiguration) throw error
      }
      await delay(pauseMs, undefined, { signal })
    }
    return open()
  }

  async function use<Value>(
    signal: AbortSignal,
    find: (signal: AbortSignal) => Promise<OpenClient>,
    work: (client: Client) => Promise<Value>,
  ): Promise<Result<Value>> {
    clearTimeout(timer)
    users += 1
    try {
      const opened = await untilAborted(find(signal), signal)
      return ok(await work(opened.client).catch((error) => throwEnded(opened, error)))
    } catch (error) {
      const why = signal.aborted ? 'the call was stopped' : errorMessage(error)
      return refuse(fault('mcp_failed', `The server ${name} failed: ${why}`, { server: name }))
    } finally {
      users -= 1
      if (users === 0 && !closing.signal.aborted)
        timer = setTimeout(() => void stop(), deps.idleMs ?? idleStopMs).unref()
    }
  }

  async function stop(): Promise<void> {
    const ending = opening
    opening = null
    state = { type: 'stopped' }
    await ending?.then((opened) => opened.close()).catch(() => undefined) // it has failed already
  }

  return {
    state: () => state,
    list: (signal) => use(signal, open, (client) => listAll(client, signal)),
    call: (tool, args, { signal, onProgress }) =>
      use(signal, reach, (client) =>
        client.callTool(
          { name: tool, arguments: { ...args } },
          {
            ...{ signal, resetTimeoutOnProgress: true, timeout: server.timeoutMs ?? callMs[server.connect.type] },
            ...(onProgress && { onprogress: onProgress }),
          },
        ),
      ),
    getPrompt: (prompt, args, signal) =>
      use(signal, reach, async (client) => {
        const { messages } = await client.getPrompt(
          { name: prompt, arguments: { ...args } },
          { signal, timeout: answerMs },
        )
        return messages
      }),
    async close() {
      closing.abort()
      clearTimeout(timer)
      await stop()
    },
  }
}

/** The library says only that the connection is closed: the end of the program says why. */
async function throwEnded(opened: OpenClient, error: unknown): Promise<never> {
  const why = opened.whyEnded()
  throw why === null ? error : new Error(why, { cause: error })
}

/** Resolves as `work` does, and rejects when the signal aborts first. */
export function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort))
}

async function listAll(client: Client, signal: AbortSignal): Promise<ServerOffer> {
  const can = client.getServerCapabilities() ?? {}
  const options = { signal, timeout: answerMs }
  const [{ tools }, { prompts }] = await Promise.all([
    can.tools ? client.listTools(undefined, options) : { tools: [] },
    can.prompts ? client.listPrompts(undefined, options) : { prompts: [] },
  ])
  return { tools, prompts, about: client.getInstructions() ?? null }
}
