import { buildRequest, type SessionState } from '@holdfast/core'
import type { ModelRequest, ToolSchema } from '@holdfast/core/ports'
import { type BlobHash, type EventType, invariant, type ModelName, type ThinkingLevel } from '@holdfast/protocol'
import { historyProviders, validateHistory } from '@holdfast/testkit'
import { readBlob, readFiles } from '../../../packages/core/src/runtime/blobs/read-blob.ts'
import { readWindow } from '../../../packages/core/src/runtime/log/read-window.ts'
import { count } from '../coverage.ts'
import { checkComplete } from './complete.ts'
import type { RequestsFixture } from './fixture.ts'
import type { Sent } from './scripted-agents.ts'
import { type Line, modelsOf, providerOn, serviceOf } from './service-apis.ts'
import { cacheLost, wireHistory } from './wire-history.ts'

/** The last accepted request of each model as JSON, so that none is checked twice. */
export type Checked = {
  readonly good: Map<ModelName, string>
  sent: number
  looks: number
  at: string
  /** The last request to each model in the session, and the length of the log at that time. */
  readonly cached: Map<ModelName, { readonly body: string; readonly seq: number }>
}

export const unchecked = (): Checked => ({ good: new Map(), sent: 0, looks: 0, at: '', cached: new Map() })

/**
 * Builds the request for each service from the log alone and sends it: every service must accept it. What the live process
 * would send, and what it did send, must be the same bytes. Returns the state of the log.
 */
export async function check(fixture: RequestsFixture, checked: Checked): Promise<SessionState> {
  const { scriptedAgents, problems } = fixture
  invariant(problems.length === 0, problems.join('\n'))
  invariant(scriptedAgents.refusals.length === 0, scriptedAgents.refusals.join('\n'))
  const state = await fixture.folded()
  const at = `${fixture.session} ${state.seq}`
  if (at === checked.at) return state // nothing was written, so the requests are the same
  checked.at = at
  const build = await builderOf(fixture, state)
  const own = build(state.settings.model)
  await checkComplete(fixture, state, own)
  const live = fixture.live()
  if (live !== null) {
    const ofProcess = (await builderOf(fixture, live))(live.settings.model)
    mustBeSame('the request of the process and that of the log', JSON.stringify(ofProcess), JSON.stringify(own))
  }
  for (const request of [...targets(checked.looks++).map((model) => build(model)), own])
    await send(fixture, request, checked)
  await compareSent(fixture, state, build, checked)
  return state
}

/** Returns one model of each service, another one each time. */
const targets = (look: number): readonly ModelName[] =>
  historyProviders.flatMap((service) => modelsOf[service].at(look % modelsOf[service].length) ?? [])

async function send(fixture: RequestsFixture, request: ModelRequest, { good }: Checked): Promise<void> {
  const json = JSON.stringify(request)
  if (good.get(request.model) === json) return
  await accepted(fixture, request)
  good.set(request.model, json)
}

/** Returns the body of a request, after its service has accepted it. */
export async function accepted({ apis }: RequestsFixture, request: ModelRequest): Promise<string> {
  const { model } = request
  const service = serviceOf(model)
  const found = validateHistory(service, request)
  invariant(
    found.length === 0,
    `${service} (${model}) would refuse this request:\n  ${found.join('\n  ')}\n  ${JSON.stringify(request.messages)}`,
  )
  const posted = Promise.withResolvers<{ readonly body: string; readonly complaint: string | null }>()
  const line: Line = (api, body) => {
    posted.resolve({ body, complaint: apis[service].complaintAbout(api) })
    return new Promise(() => undefined) // only acceptance matters, so there is no answer
  }
  const parts = providerOn(model, line, noClock).stream(request, { signal: new AbortController().signal })
  const next = parts[Symbol.asyncIterator]().next()
  const { body, complaint } = await Promise.race([posted.promise, next.then(unsent)])
  invariant(complaint === null, `${service} (${model}) refuses this: ${complaint}\n  ${body}`)
  count(`sent to ${service}`)
  countOpaque(service, body)
  return body
}

const noClock = { now: () => 0, after: () => () => undefined }

const unsent = ({ value }: { readonly value: unknown }): never => {
  throw new Error(`nothing was sent: ${JSON.stringify(value)}`)
}

/** Opaque data that a service expects back, as substrings of the body. */
const opaqueParts = {
  anthropic: ['"signature":"+/', '"redacted_thinking"'],
  'openai-chat': ['"tool_call_id":'],
  'openai-responses': ['"encrypted_content":"+/'],
  gemini: ['"thoughtSignature":"+/', '"thoughtSignature":"skip'],
} as const

export const opaqueKinds: readonly string[] = Object.entries(opaqueParts).flatMap(([service, parts]) =>
  parts.map((part) => `${service} has back ${part}`),
)

function countOpaque(service: keyof typeof opaqueParts, body: string): void {
  for (const part of opaqueParts[service]) if (body.includes(part)) count(`${service} has back ${part}`)
}

/** Compares the requests sent since the last check with those built from the log. */
async function compareSent(
  fixture: RequestsFixture,
  state: SessionState,
  build: Build,
  checked: Checked,
): Promise<void> {
  const { sent } = fixture.scriptedAgents
  const [last, ...more] = sent.slice(checked.sent)
  checked.sent = sent.length
  const isThinking = state.turn.phase === 'thinking' && fixture.live() !== null && last?.life.status === 'living'
  if (!last || more.length > 0 || !isThinking || fixture.sessions.length > 1) return
  const again = build(last.request.model, last.request.thinkingLevel)
  mustBeSame('the request sent and that of the log', JSON.stringify(last.request), JSON.stringify(again))
  mustBeSame('the bodies of the same request', last.body, await accepted(fixture, again))
  count('sent as the log says')
  await checkCache(fixture, state, last, checked)
}

/** Events that change the history. After all others, a model's cache must find its last request again. */
const redrawing: readonly EventType[] = [
  ...(['line.moved', 'checkpoint.written', 'checkpoint.undone', 'summary.saved', 'message.pinned'] as const),
]

async function checkCache(
  { store, session }: RequestsFixture,
  state: SessionState,
  sent: Sent,
  checked: Checked,
): Promise<void> {
  const { request, body } = sent
  const { model } = request
  const before = checked.cached.get(model)
  checked.cached.set(model, { body, seq: state.seq })
  if (!before) return
  const redrawn = await store.read(session, { after: before.seq, limit: 1, types: redrawing })
  if (redrawn.length > 0) return
  const service = serviceOf(model)
  const lost = cacheLost(wireHistory(service, before.body), wireHistory(service, body))
  invariant(lost === null, `the cache of ${model} is useless: ${lost}`)
  count(`cached by ${service}`)
}

export type Build = (model: ModelName, thinkingLevel?: ThinkingLevel) => ModelRequest

/** Returns a function that builds requests from the log and its blobs, as a step does. */
export async function builderOf({ store, blobs, session }: RequestsFixture, state: SessionState): Promise<Build> {
  const window = await readWindow(store, session, state)
  const files = await readFiles(blobs, window)
  const textOf = async (hash: BlobHash | undefined) =>
    hash ? Buffer.from((await readBlob(blobs, hash)) ?? []).toString() : ''
  const system = await textOf(state.context?.system)
  const tools: readonly ToolSchema[] = JSON.parse((await textOf(state.context?.tools)) || '[]') // our own JSON
  const { thinkingLevel: level } = state.settings
  return (model, thinkingLevel = level) => buildRequest({ model, thinkingLevel, system, tools, window, files })
}

export function mustBeSame(what: string, one: string, other: string): void {
  invariant(one === other, `${what} differ:\n  ${one}\n  ${other}`)
}

/** Checks that an idle session sends the same bytes from its process and from a new one that reads its log. */
export async function checkRestart(fixture: RequestsFixture): Promise<void> {
  await fixture.submit({ type: 'abort' })
  await fixture.wake()
  const before = await bodies(fixture)
  mustBeSame('two requests of the same process', before.join('\n'), (await bodies(fixture)).join('\n'))
  await fixture.crash('killed')
  await fixture.wake()
  mustBeSame('the requests before and after a restart', before.join('\n'), (await bodies(fixture)).join('\n'))
  count('restarted at rest')
}

async function bodies(fixture: RequestsFixture): Promise<readonly string[]> {
  const live = fixture.live()
  invariant(live, 'the session is not loaded')
  const build = await builderOf(fixture, live)
  const all = new Set([live.settings.model, ...targets(0)])
  const found: string[] = []
  for (const model of all) found.push(JSON.stringify(build(model)), await accepted(fixture, build(model)))
  return found
}
