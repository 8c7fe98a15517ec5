import { buildRequest } from '@holdfast/core'
import type { ModelPart, ModelRequest, Provider, SaidPart, ToolSchema } from '@holdfast/core/ports'
import { BlobHash, type ModelName, type Outcome, providerOf } from '@holdfast/protocol'
import { type EventInput, recordsOf, userSaid } from '@holdfast/testkit'

type Window = Parameters<typeof buildRequest>[0]['window']
type Content = Extract<EventInput, { type: 'user.said' }>['content']

const tools: readonly ToolSchema[] = ['shell', 'read_file'].map((name) => ({
  name,
  description: 'Does it.',
  input: { type: 'object', properties: { command: { type: 'string' } } },
}))

/** Builds the log of a session, and the requests that the runtime builds from it. */
export function createSessionLog() {
  const events: EventInput[] = []
  const outcomes = new Map<number, Outcome>()
  const files = new Map<BlobHash, Uint8Array>()
  let step = 1_000

  function add(parts: readonly SaidPart[], provider: string, isCut: boolean): void {
    step++
    // Like the session: a cut answer keeps its text, loses its calls, and its last part is marked.
    const kept = isCut ? parts.filter(({ type }) => type !== 'call') : parts
    for (const [index, part] of kept.entries()) {
      const meta = part.meta && { meta: part.meta }
      if (part.type === 'call') {
        events.push({
          type: 'call.requested',
          turn: 0,
          step,
          tool: part.tool,
          args: { ...part.args },
          provider,
          ...meta,
        })
      } else {
        const type = part.type === 'text' ? 'text.said' : 'thinking.said'
        const interrupted = isCut && index === kept.length - 1 && { interrupted: true as const }
        events.push({ type, turn: 0, step, text: part.text, provider, ...meta, ...interrupted })
      }
    }
  }

  function request(model: ModelName): ModelRequest {
    // Through JSON, like the log.
    const records = recordsOf(JSON.parse(JSON.stringify(events)))
    const messages = records.map(({ seq, event }) => ({ seq, event, outcome: outcomes.get(seq) ?? null }))
    // This log has only events that a window shows.
    const window: Window = { summary: null, pinned: [], prompt: null, messages: messages as Window['messages'] }
    return buildRequest({ model, thinkingLevel: 'high', system: 'Be careful.', tools, window, files })
  }

  return {
    request,
    user: (text: string) => void events.push(userSaid(text)),
    userSends: (...content: Content) => void events.push({ type: 'user.said', turn: 0, content }),
    file(mediaType: string, name: string, bytes: Uint8Array | null) {
      const blob = BlobHash.parse(files.size.toString(16).padStart(64, '0'))
      if (bytes) files.set(blob, bytes)
      return { type: 'file' as const, blob, mediaType, name, bytes: bytes?.length ?? 0 }
    },
    /** Calls the model and records its answer. */
    async answer(provider: Provider, model: ModelName): Promise<readonly SaidPart[]> {
      const parts: ModelPart[] = []
      const signal = new AbortController().signal
      for await (const part of provider.stream(request(model), { signal })) parts.push(part)
      const last = parts.at(-1)
      const isCut = last?.type !== 'end' || last.end.type !== 'complete'
      const whole = wholeOf(parts)
      add(whole, providerOf(model), isCut)
      return whole
    },
    /** Records an answer without calling the model. */
    says: (model: ModelName, ...parts: readonly SaidPart[]) => add(parts, providerOf(model), false),
    cut: (model: ModelName, ...parts: readonly SaidPart[]) => add(parts, providerOf(model), true),
    /** Settles every open call, last first. */
    settle(outcome: (call: number) => Outcome = (call) => ({ type: 'ok', output: { text: `result of ${call}` } })) {
      for (const [index, event] of [...events.entries()].reverse()) {
        if (event.type === 'call.requested' && !outcomes.has(index + 1)) outcomes.set(index + 1, outcome(index + 1))
      }
    },
  }
}

/** Returns the complete parts of an answer, and the text of an incomplete one. */
function wholeOf(parts: readonly ModelPart[]): readonly SaidPart[] {
  const answer: SaidPart[] = []
  for (const part of parts) {
    if (part.type === 'said') answer[part.part] = part.said
    else if (part.type === 'delta' && part.kind !== 'input') {
      const before = answer[part.part]
      const text = before && before.type !== 'call' ? before.text : ''
      answer[part.part] = { type: part.kind, text: text + part.text }
    }
  }
  return answer.filter((part) => part !== undefined)
}
