import { setTimeout as delay } from 'node:timers/promises'
import {
  clip,
  errorMessage,
  fault,
  ok,
  type QuestionPreview,
  type QuestionReply,
  type Result,
  refuse,
} from '@holdfast/protocol'
import type {
  Client,
  ElicitRequest,
  ElicitResult,
  Progress,
  Prompt,
  Tool as ServerTool,
} from '@modelcontextprotocol/client'
import type { McpServer } from '../config/server-config.ts'
import { NeedsSignIn } from '../sign-in/session-auth.ts'
import { createCallClock } from './call-clock.ts'
import { readElicitation, toElicitResult } from './elicitation.ts'
import { type ClientDeps, type OpenClient, openClient, WrongConfiguration } from './open-client.ts'
import { answerMs, listAll, listResources, type ServerOffer, type ServerResources } from './server-lists.ts'

export type { ServerOffer, ServerResource } from './server-lists.ts'
export type { Progress, Prompt, ServerTool }

/** The result of a call, as the server returned it. */
export type ServerResult = Awaited<ReturnType<Client['callTool']>>
type ResourceContents = Awaited<ReturnType<Client['readResource']>>['contents']
export type PromptMessages = Awaited<ReturnType<Client['getPrompt']>>['messages']

type CallOptions = {
  readonly signal: AbortSignal
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Asks a person for the server. Absent: its questions are cancelled. */
  readonly ask?: Ask | undefined
}
type Ask = (question: QuestionPreview) => Promise<QuestionReply>

/** `stopped`: it starts when it is needed. */
export type ConnectionState =
  | { readonly type: 'stopped' | 'starting' | 'ready' }
  /** `needs_sign_in`: a person must sign in to it first. */
  | { readonly type: 'failed' | 'needs_sign_in'; readonly why: string }

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
  listResources(signal: AbortSignal): Promise<Result<ServerResources>>
  readResource(uri: string, signal: AbortSignal): Promise<Result<ResourceContents>>
  close(): Promise<void>
}

type ConnectionDeps = Omit<ClientDeps, 'onElicit'> & {
  readonly idleMs?: number | undefined
  /** Called with the reason when a person must sign in, and with null when the server is reached. */
  readonly onSignIn: (why: string | null) => void
  /** Called when the server is reached. */
  readonly onOpened: () => void
}

/** A server may answer with any text as its error. */
const reasonCharsMax = 1000
const idleStopMs = 10 * 60_000
/** How long a call may take without progress. */
const callMs = { stdio: 30 * 60_000, http: 5 * 60_000 }
/** The longest time of a timer: the call has a clock of its own. */
const timerMsMax = 2 ** 31 - 1
/** The waits between the tries to reach a server. */
const pausesMs = [1000, 2000, 4000, 8000]

export function createConnection(server: McpServer, deps: ConnectionDeps): McpConnection {
  const { name } = server
  let state: ConnectionState = { type: 'stopped' }
  let opening: Promise<OpenClient> | null = null
  const closing = new AbortController()
  const askers = new Set<Ask>()
  let users = 0
  let timer: NodeJS.Timeout | undefined

  /** Asks in the session of the newest call: a server does not say which call a question belongs to. */
  async function onElicit(params: ElicitRequest['params']): Promise<ElicitResult> {
    const question = readElicitation(name, params)
    const ask = [...askers].at(-1)
    return question && ask ? toElicitResult(question, await ask(question)) : { action: 'cancel' }
  }

  /** Calls a tool. The time limit stands still while a person is asked. */
  async function callTool(
    client: Client,
    params: Parameters<Client['callTool']>[0],
    { signal, onProgress, ask }: CallOptions,
  ): Promise<ServerResult> {
    const limitMs = server.timeoutMs ?? callMs[server.connect.type]
    const clock = createCallClock(limitMs)
    const asker: Ask | undefined = ask && ((question) => clock.during(() => ask(question)))
    if (asker) askers.add(asker)
    const onprogress = (progress: Progress) => {
      clock.touch()
      onProgress?.(progress)
    }
    try {
      const ended = AbortSignal.any([signal, clock.signal])
      return await client.callTool(params, { signal: ended, onprogress, timeout: timerMsMax })
    } catch (error) {
      if (!clock.signal.aborted) throw error
      throw new Error(`it did not answer within ${limitMs / 1000} seconds`, { cause: error })
    } finally {
      clock.end()
      if (asker) askers.delete(asker)
    }
  }

  /** Returns the open client, or opens one. All that wait share one attempt, which ends by its own time limit. */
  function open(): Promise<OpenClient> {
    if (opening !== null) return opening
    state = { type: 'starting' }
    const attempt = openClient(server, { ...deps, onElicit }, closing.signal)
    opening = attempt
    const forget = (next: ConnectionState) => {
      if (opening !== attempt) return
      opening = null
      state = next
    }
    attempt.then(
      (opened) => {
        if (opening === attempt) state = { type: 'ready' }
        deps.onSignIn(null)
        deps.onOpened()
        void opened.ended.then((why) => {
          const signIn = opened.whySignIn()
          if (signIn !== null) forget({ type: 'needs_sign_in', why: signIn })
          else forget(why === null ? { type: 'stopped' } : { type: 'failed', why })
        })
      },
      (error) => forget(failedBy(error)),
    )
    return attempt
  }

  /** Reaches the server, again after a pause if that fails. */
  async function reach(signal: AbortSignal): Promise<OpenClient> {
    for (const pauseMs of pausesMs) {
      try {
        return await open()
      } catch (error) {
        if (signal.aborted || closing.signal.aborted || isFinal(error)) throw error
      }
      await delay(pauseMs, undefined, { signal })
    }
    return open()
  }

  async function use<Value>(
    signal: AbortSignal,
    find: (signal: AbortSignal) => Promise<OpenClient>,
    work: (client: Client, opened: OpenClient) => Promise<Value>,
  ): Promise<Result<Value>> {
    clearTimeout(timer)
    users += 1
    try {
      const opened = await untilAborted(find(signal), signal)
      return ok(await work(opened.client, opened).catch((error) => throwEnded(opened, error)))
    } catch (error) {
      if (error instanceof NeedsSignIn) deps.onSignIn(error.message)
      const why = signal.aborted ? 'the call was stopped' : clip(errorMessage(error), reasonCharsMax)
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
    list: (signal) => use(signal, open, (client, opened) => listAll(client, opened, signal)),
    call: (tool, args, options) =>
      use(options.signal, reach, (client) => callTool(client, { name: tool, arguments: { ...args } }, options)),
    getPrompt: (prompt, args, signal) =>
      use(signal, reach, async (client) => {
        const { messages } = await client.getPrompt(
          { name: prompt, arguments: { ...args } },
          { signal, timeout: answerMs },
        )
        return messages
      }),
    listResources: (signal) => use(signal, reach, (client) => listResources(client, signal)),
    readResource: (uri, signal) =>
      use(signal, reach, async (client) => {
        const { contents } = await client.readResource({ uri }, { signal, timeout: answerMs, cacheMode: 'refresh' })
        return contents
      }),
    async close() {
      closing.abort()
      clearTimeout(timer)
      await stop()
    },
  }
}

/** Whether it makes no sense to try again before a person has done something. */
const isFinal = (error: unknown): boolean => error instanceof WrongConfiguration || error instanceof NeedsSignIn

const failedBy = (error: unknown): ConnectionState => ({
  type: error instanceof NeedsSignIn ? 'needs_sign_in' : 'failed',
  why: clip(errorMessage(error), reasonCharsMax),
})

/** The library says only that the connection is closed: the end of the program says why. */
async function throwEnded(opened: OpenClient, error: unknown): Promise<never> {
  const signIn = opened.whySignIn()
  if (signIn !== null) {
    void opened.close() // the next call starts anew, with what the person has signed in to
    throw new NeedsSignIn(signIn)
  }
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
