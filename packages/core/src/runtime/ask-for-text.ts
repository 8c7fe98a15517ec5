import { invariant, type Usage } from '@holdfast/protocol'
import type { ModelEnd, ModelRequest, Provider } from '../ports/provider.ts'

export type WrittenText = { readonly text: string; readonly usage: Usage } | { readonly failed: string }

const aborted: WrittenText = { failed: 'It was aborted.' }

/**
 * Asks a model for a text, apart from any turn. What goes wrong is a sentence: nobody's turn depends on it. Told to stop,
 * it is over at once, whatever the provider still says and however long it takes.
 */
export async function askForText(provider: Provider, request: ModelRequest, signal: AbortSignal): Promise<WrittenText> {
  if (signal.aborted) return aborted
  const stopped = Promise.withResolvers<WrittenText>()
  const stop = () => stopped.resolve(aborted)
  signal.addEventListener('abort', stop)
  try {
    return await Promise.race([stopped.promise, write(provider, request, signal)])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

async function write(provider: Provider, request: ModelRequest, signal: AbortSignal): Promise<WrittenText> {
  const said: string[] = []
  let end: ModelEnd | null = null
  for await (const part of provider.stream(request, { signal })) {
    if (part.type === 'said' && part.said.type === 'text') said.push(part.said.text)
    if (part.type === 'end') end = part.end
  }
  invariant(end, `the provider of ${request.model} ended without an end`)
  if (end.type === 'aborted') return aborted
  if (end.type === 'failed') return { failed: end.fault.message }
  if (end.finish === 'refused') return { failed: 'The model refused.' }
  if (end.finish === 'length') return { failed: 'The model was cut short.' } // half a summary would pass for the whole
  const text = said.join('').trim()
  return text === '' ? { failed: 'The model said nothing.' } : { text, usage: end.usage }
}
