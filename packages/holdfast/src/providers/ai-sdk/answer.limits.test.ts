import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { limits } from '@holdfast/protocol'
import { aRequest } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createAiSdkProvider } from './provider.ts'
import { collect } from './testing/collect.ts'
import { streamModel } from './testing/stream-model.ts'

const streamOf = (...parts: readonly LanguageModelV4StreamPart[]) => ReadableStream.from(parts)
const finish: LanguageModelV4StreamPart = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: undefined },
  usage: {
    inputTokens: { total: 12, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 3, text: undefined, reasoning: undefined },
  },
}
const partsOf = async (stream: ReadableStream<LanguageModelV4StreamPart>) =>
  (await collect(createAiSdkProvider(streamModel(stream), { title: 'made-up' }), aRequest())).parts

describe('the limits of an answer', () => {
  it('keeps a record small for any number of sources and any metadata', async () => {
    const url = 'https://example.com/a-page-of-some-length'
    const sources = Array.from({ length: 100_000 }, (_, id) => ({
      type: 'source' as const,
      sourceType: 'url' as const,
      id: `${id}`,
      url,
    }))
    const annotations = sources.map(({ id }) => ({ type: 'url_citation', id, url }))
    const stream = streamOf(
      { type: 'text-start', id: '1', providerMetadata: { made: { itemId: 'm1' } } },
      { type: 'text-delta', id: '1', delta: 'As they say.' },
      ...sources,
      { type: 'text-end', id: '1', providerMetadata: { made: { annotations, signature: 's'.repeat(100_000) } } },
      finish,
    )
    const first = (await partsOf(stream)).find(({ type }) => type === 'said')
    expect(JSON.stringify(first).length).toBeLessThan(200_000)
    const meta = first?.type === 'said' ? first.said.meta : undefined
    expect(meta?.['made']).toEqual({ itemId: 'm1', signature: 's'.repeat(100_000) })
    const { kept } = (meta?.['holdfast'] ?? {}) as { kept?: { type: string; count?: number }[] } // as part-meta.ts records it
    expect(kept?.at(-1)).toEqual({ type: 'omitted', count: 100_001 - ((kept?.length ?? 0) - 1) })
  })

  it.each(['\u001b[2J'.repeat(500_000), 'a'.repeat(129)])(
    'marks a call with an invalid tool name as malformed: %#',
    async (toolName) => {
      const stream = streamOf(
        { type: 'tool-input-start', id: '1', toolName },
        { type: 'tool-call', toolCallId: '1', toolName, input: '{}' },
        finish,
      )
      const [called] = await partsOf(stream)
      expect(called).toMatchObject({ said: { args: {}, malformed: 'the name of the tool is invalid' } })
      expect(JSON.stringify(called)).toMatch(/^[ -~]{1,600}$/)
    },
  )

  it.each([
    ['text', (delta: string) => ({ type: 'text-delta' as const, id: '1', delta })],
    ['thinking', (delta: string) => ({ type: 'reasoning-delta' as const, id: '1', delta })],
    ['arguments of no call', (delta: string) => ({ type: 'tool-input-delta' as const, id: '1', delta })],
  ])('stops an endless answer by its %s and keeps the text so far', async (kind, more) => {
    let sent = 0
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      pull(controller) {
        sent++
        controller.enqueue(more('x'.repeat(1024 * 1024)))
      },
    })
    const parts = await partsOf(stream)
    expect(parts.at(-1)).toMatchObject({
      end: {
        type: 'failed',
        fault: { kind: 'raw_dump', message: expect.stringContaining('is too long') },
        retryable: false,
      },
    })
    expect(sent).toBeLessThan(20)
    const shown = parts.reduce((sum, part) => sum + (part.type === 'delta' ? part.text.length : 0), 0)
    expect(shown).toBe(kind === 'arguments of no call' ? 0 : limits.answerCharsMax)
  })

  it('stops an answer of too many parts and keeps those so far', async () => {
    let sent = 0
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      pull(controller) {
        const id = `${sent++}`
        controller.enqueue({ type: 'text-start', id })
        controller.enqueue({ type: 'text-delta', id, delta: 'x' })
        controller.enqueue({ type: 'text-end', id })
      },
    })
    const parts = await partsOf(stream)
    expect(parts.at(-1)).toMatchObject({ end: { type: 'failed', retryable: false } })
    expect(parts.filter(({ type }) => type === 'said').length).toBe(limits.answerPartsMax)
    expect(sent).toBeLessThan(limits.answerPartsMax + 10)
  })

  it('bounds the values in the arguments of all its calls together', async () => {
    const names = Array.from({ length: limits.callArgsValuesMax / 2 - 10 }, (_, index) => `"${index}":0`)
    const input = `{${names.join(',')}}`
    const calls = Array.from({ length: 8 }, (_, id) => ({
      type: 'tool-call' as const,
      toolCallId: `${id}`,
      toolName: 'read_file',
      input,
    }))
    const said = (await partsOf(streamOf(...calls, finish))).flatMap((part) =>
      part.type === 'said' && part.said.type === 'call' ? [part.said] : [],
    )
    const values = said.reduce((sum, { args }) => sum + 2 * Object.keys(args).length, 0)
    expect(values).toBeLessThanOrEqual(limits.answerArgsValuesMax)
    const readable = Math.floor(limits.answerArgsValuesMax / limits.callArgsValuesMax)
    expect(said.map(({ malformed }) => malformed === undefined)).toEqual(calls.map((_, index) => index < readable))
    expect(said.at(-1)?.malformed).toContain('ask for fewer at once')
  })

  it('stops an answer of too many empty parts', async () => {
    let sent = 0
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      pull: (controller) =>
        controller.enqueue({ type: 'tool-call', toolCallId: `${sent++}`, toolName: 'one', input: '' }),
    })
    expect((await partsOf(stream)).at(-1)).toMatchObject({ end: { type: 'failed' } })
  })
})
