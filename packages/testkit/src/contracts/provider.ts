import type { ModelPart, ModelRequest, Provider } from '@holdfast/core/ports'
import { afterEach, describe, expect, it } from 'vitest'

/** A provider under test, and a request for each behaviour. */
export type ProviderSubject = {
  /** The provider under test. */
  readonly provider: Provider
  /** Gets a complete answer with some text. */
  readonly plain: ModelRequest
  /** Gets some text, then does not end until it is aborted. */
  readonly long: ModelRequest
  /** Fails, as when the network or the service fails. */
  readonly failing: ModelRequest
  /** Called after each test. */
  readonly close?: () => Promise<void>
}

/** Describes what the runtime requires of every provider. A new provider must pass it. */
export function describeProvider(name: string, open: () => Promise<ProviderSubject>): void {
  describe(`${name} provider`, () => {
    let opened: ProviderSubject | null = null
    const subject = async () => {
      opened = await open()
      return opened
    }
    afterEach(async () => {
      await opened?.close?.()
      opened = null
    })

    it('ends with exactly one end part, which is the last', async () => {
      const { provider, plain } = await subject()
      const parts = await collect(provider, plain)
      expect(parts.filter(({ type }) => type === 'end')).toEqual([
        { type: 'end', end: expect.objectContaining({ type: 'complete' }) },
      ])
      expect(parts.at(-1)?.type).toBe('end')
    })

    it('sends each part once, equal to its deltas', async () => {
      const { provider, plain } = await subject()
      const parts = await collect(provider, plain)
      const texts = parts.flatMap((part) => (part.type === 'said' && part.said.type !== 'call' ? [part] : []))
      expect(texts.some((part) => part.said.type === 'text')).toBe(true)
      expect(new Set(texts.map(({ part }) => part)).size).toBe(texts.length)
      expect(texts.map(({ part }) => shown(parts, part))).toEqual(
        texts.map((part) => 'text' in part.said && part.said.text),
      )
    })

    it('sends only an aborted end when aborted before it starts', async () => {
      const { provider, plain } = await subject()
      expect(await collect(provider, plain, AbortSignal.abort())).toEqual([{ type: 'end', end: { type: 'aborted' } }])
    })

    it('ends as aborted at once when aborted midway', async () => {
      const { provider, long } = await subject()
      const abort = new AbortController()
      const parts: ModelPart[] = []
      for await (const part of provider.stream(long, { signal: abort.signal })) {
        parts.push(part)
        abort.abort()
      }
      expect(parts.map(({ type }) => type)).toEqual(['delta', 'end'])
      expect(parts.at(-1)).toEqual({ type: 'end', end: { type: 'aborted' } })
    })

    it('allows the reader to stop early', async () => {
      const { provider, long } = await subject()
      const seen: ModelPart[] = []
      for await (const part of provider.stream(long, { signal: new AbortController().signal })) {
        seen.push(part)
        break
      }
      expect(seen).toHaveLength(1)
    })

    it('ends as failed with a readable message, and never throws', async () => {
      const { provider, failing } = await subject()
      const parts = await collect(provider, failing)
      const ends = parts.flatMap((part) => (part.type === 'end' ? [part.end] : []))
      expect(ends).toEqual([expect.objectContaining({ type: 'failed' })])
      expect(parts.at(-1)?.type).toBe('end')
      const end = ends[0]
      expect(end?.type === 'failed' && end.fault.message).toMatch(/\S.*\.$/)
    })
  })
}

async function collect(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of provider.stream(request, { signal })) parts.push(part)
  return parts
}

const shown = (parts: readonly ModelPart[], of: number): string =>
  parts.flatMap((part) => (part.type === 'delta' && part.part === of ? [part.text] : [])).join('')
