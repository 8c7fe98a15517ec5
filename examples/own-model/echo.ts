import type { ModelPart, ModelRequest, Provider } from 'holdfast'

/** A model that repeats what it was told. */
export const echo: Provider = {
  async *stream({ messages }, { signal }): AsyncGenerator<ModelPart> {
    const words = lastText(messages).match(/\s*\S+/g) ?? []
    for (const text of words) {
      if (signal.aborted) return yield { type: 'end', end: { type: 'aborted' } }
      yield { type: 'delta', part: 0, kind: 'text', text }
    }
    if (words.length === 0) return yield nothingToRepeat
    yield { type: 'said', part: 0, said: { type: 'text', text: words.join('') } }
    yield { type: 'end', end: { type: 'complete', finish: 'stop', usage: null } }
  },
}

const nothingToRepeat: ModelPart = {
  type: 'end',
  end: {
    type: 'failed',
    fault: { kind: 'passthrough', message: 'There is nothing to repeat.' },
    retryable: false,
    retryAfterMs: null,
    usage: null,
  },
}

function lastText(messages: ModelRequest['messages']): string {
  const last = messages.at(-1)
  return last?.role === 'user' ? last.content.map((part) => (part.type === 'text' ? part.text : '')).join('') : ''
}
