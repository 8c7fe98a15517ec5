import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { aRequest } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createAiSdkProvider } from './provider.ts'
import { collect } from './testing/collect.ts'
import { streamModel } from './testing/stream-model.ts'

const streamOf = (...parts: readonly LanguageModelV4StreamPart[]) => ReadableStream.from(parts)

describe('the usage of a call', () => {
  const counted = (input: number | undefined, output: number | undefined) => ({
    inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  })
  const endBy = async (
    usage: ReturnType<typeof counted>,
    price = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
  ) => {
    const stream = streamOf(
      { type: 'text-delta', id: '1', delta: 'x'.repeat(4000) },
      { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
    )
    const { end } = await collect(createAiSdkProvider(streamModel(stream), { title: 'made', price }), aRequest())
    return end.type === 'complete' ? end : expect.fail('it did not end')
  }

  it.each([
    ['none', counted(undefined, undefined)],
    ['nothing', counted(0, 0)],
    ['no number', counted(Number.NaN, 5)],
    ['too many', counted(1.7e308, 5)],
    ['too many out', counted(5, 1_000_000_001)],
    ['less than none', counted(-7, -3)],
  ])('is estimated if the service counts %s', async (_, usage) => {
    const end = await endBy(usage)
    expect(end.usage).toBeNull()
    const { input = 0, cost } = end.estimate ?? {}
    expect(end.estimate).toMatchObject({ input: expect.any(Number), output: 1000, cacheRead: 0, cacheWrite: 0 })
    expect(input).toBeGreaterThan(0)
    expect(cost).toBe((input + 2000) / 1_000_000)
  })

  it('ignores invalid counts and prices', async () => {
    expect(await endBy(counted(10.4, -3))).toMatchObject({ usage: { input: 10, output: 0, cost: 0.00001 } })
    const price = { input: 1e308, output: 1e308, cacheRead: 0, cacheWrite: 0 }
    expect(await endBy(counted(10, 3), price)).toMatchObject({ usage: { input: 10, output: 3, cost: null } })
  })
})
