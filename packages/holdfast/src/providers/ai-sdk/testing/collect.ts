import type { ModelEnd, ModelPart, ModelRequest, Provider, SaidPart } from '@holdfast/core/ports'

/** Collects one whole answer. */
export async function collect(
  provider: Provider,
  request: ModelRequest,
): Promise<{ readonly parts: readonly ModelPart[]; readonly said: readonly SaidPart[]; readonly end: ModelEnd }> {
  const parts: ModelPart[] = []
  const { signal } = new AbortController()
  for await (const part of provider.stream(request, { signal })) parts.push(part)
  const last = parts.at(-1)
  if (last?.type !== 'end') throw new Error('it has no end')
  return { parts, said: parts.flatMap((part) => (part.type === 'said' ? [part.said] : [])), end: last.end }
}
