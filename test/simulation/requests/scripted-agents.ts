import type { Clock, ModelRequest, Models, Tool, ToolResult, Tools } from '@holdfast/core/ports'
import { limits, type ModelName } from '@holdfast/protocol'
import { type ApiRequest, createGate, modelsWith, type SseEvent, sseText } from '@holdfast/testkit'
import { count } from '../coverage.ts'
import type { Life } from '../scheduler.ts'
import { providerOn, type Said, type ServiceApi, type ServiceApis, sayable, serviceOf } from './service-apis.ts'

export type Break = 'cut' | 'stop' | 'error' | 'overloaded'

type Held = { readonly life: Life; readonly signal: AbortSignal }
/** A request that a service is answering. */
export type Answering = Held & {
  readonly model: ModelName
  /** Sends `events` more events. The first call decides the answer. */
  say(answer: readonly Said[], events: number): void
  breakOff(how: Break): void
}
/** A call that is being run. */
export type Working = Held & { readonly isBegun: boolean; begin(): void; end(result: ToolResult): void }
/** A request of a session, as it was sent. */
export type Sent = { readonly life: Life; readonly request: ModelRequest; readonly body: string }

/**
 * Services and tools that the run controls. They ignore an abort and may answer late, which must have no effect.
 */
export type ScriptedAgents = {
  readonly answering: readonly Answering[]
  readonly working: readonly Working[]
  readonly sent: readonly Sent[]
  /** Requests of sessions that services refused. */
  readonly refusals: readonly string[]
  /** Sets the context size of all models. */
  narrow(contextTokens: number): void
  models(life: Life): Models
  tools(life: Life): Tools
}

/** Returns whether its result is still awaited. */
export const isWanted = ({ life, signal }: Held): boolean => life.status === 'living' && !signal.aborted

export function createScriptedAgents({
  apis,
  clock,
}: {
  readonly apis: ServiceApis
  readonly clock: Clock
}): ScriptedAgents {
  let contextTokens: number = limits.contextTokens
  let answering: readonly Answering[] = []
  let working: readonly Working[] = []
  const sent: Sent[] = []
  const refusals: string[] = []

  function take(held: Held, request: ModelRequest, apiRequest: ApiRequest, body: string): Response | Promise<Response> {
    const api = apis[serviceOf(request.model)]
    const complaint = api.complaintAbout(apiRequest)
    if (complaint !== null) {
      refusals.push(`${api.service} refuses the request of the session: ${complaint}\n  ${body}`)
      return Response.json(api.errorBody(400, complaint), { status: 400 })
    }
    if (request.purpose !== 'summary') sent.push({ life: held.life, request, body })
    const { response, ...mine } = createAnswering(api, request.model, apiRequest, () => {
      answering = answering.filter((one) => one !== pending)
    })
    const pending: Answering = { ...held, model: request.model, ...mine }
    answering = [...answering, pending]
    if (request.purpose === 'summary') count('asked for a summary')
    if (request.purpose === 'summary') pending.say([{ type: 'say', text: 'In short: half \ud83d a word.' }], all)
    return response
  }

  const run =
    (life: Life, waits: boolean): Tool['run'] =>
    async (_, __, { signal, begin, show }) => {
      const gate = createGate()
      const done = Promise.withResolvers<ToolResult>()
      let isBegun = !waits
      const mine: Working = {
        life,
        signal,
        get isBegun() {
          return isBegun
        },
        begin() {
          isBegun = true
          gate.open()
        },
        end(result) {
          working = working.filter((one) => one !== mine)
          gate.open()
          show('done')
          done.resolve(result)
        },
      }
      working = [...working, mine]
      if (waits) await gate.pass()
      await begin()
      return done.promise
    }

  const tool = (life: Life, name: string, isDestructive: boolean, waits = false): Tool => ({
    schema: { name, description: name, input: { type: 'object' } },
    isDestructive,
    isReadOnly: !isDestructive,
    prepare: async (args) =>
      args['unusable']
        ? { type: 'unusable', message: '' }
        : { type: 'ready', args, preview: { type: 'arguments', args: { ...args } } },
    run: run(life, waits),
  })

  return {
    get answering() {
      return answering
    },
    get working() {
      return working
    },
    sent,
    refusals,
    narrow(tokens) {
      contextTokens = tokens
    },
    models: (life) =>
      modelsWith((model) => ({
        type: 'ready',
        contextTokens,
        provider: {
          stream: (request, options) =>
            providerOn(model, (api, body) => take({ life, signal: options.signal }, request, api, body), clock).stream(
              request,
              options,
            ),
        },
      })),
    tools(life) {
      // A name that some services do not allow.
      const all = [tool(life, 'look', false), tool(life, 'lift', false, true), tool(life, '3d', true)]
      const find = (name: string) => all.find(({ schema }) => schema.name === name) ?? null
      return { all, find, endLeftover: async () => undefined }
    },
  }
}

/** More events than any answer has. */
export const all = 1_000

const encoder = new TextEncoder()

function createAnswering(api: ServiceApi, model: ModelName, apiRequest: ApiRequest, over: () => void) {
  const opened = Promise.withResolvers<Response>()
  let events: SseEvent[] | null = null
  let isLeft = false
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  const body = new ReadableStream<Uint8Array>({
    start(created) {
      controller = created
    },
    cancel() {
      isLeft = true
    },
  })
  let isOpen = false
  const begin = (): void => {
    if (isOpen) return
    isOpen = true
    opened.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  }
  const write = (event: SseEvent): void => {
    if (!isLeft) controller?.enqueue(encoder.encode(sseText(event)))
  }
  const close = (): void => {
    over()
    if (!isLeft) controller?.close()
  }

  return {
    response: opened.promise,
    say(answer: readonly Said[], count: number) {
      begin()
      events ??= [...api.give(sayable(model, answer), apiRequest)]
      for (const event of events.splice(0, count)) write(event)
      if (events.length === 0) close()
    },
    breakOff(how: Break) {
      if (events === null && how === 'cut') {
        over()
        return opened.reject(new TypeError('fetch failed'))
      }
      if (events === null && how === 'overloaded') {
        over()
        return opened.resolve(Response.json(api.errorBody(503, 'try later'), { status: 503 }))
      }
      begin()
      if (how === 'cut') {
        over()
        if (!isLeft) controller?.error(new TypeError('terminated'))
        return
      }
      if (how !== 'stop') write(api.streamError({ type: 'error', error: 'overloaded_error', message: 'try later' }))
      close()
    },
  }
}
