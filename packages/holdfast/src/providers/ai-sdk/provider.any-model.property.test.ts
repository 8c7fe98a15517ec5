import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { ModelPart } from '@holdfast/core/ports'
import { aRequest } from '@holdfast/testkit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createAiSdkProvider } from './provider.ts'

const types = [
  'text-start',
  'text-delta',
  'text-end',
  'reasoning-start',
  'reasoning-delta',
  'reasoning-end',
  'tool-input-start',
  'tool-input-delta',
  'tool-call',
  'finish',
  'error',
  'ping',
  'hologram',
]

/** Any stream: fragments in any order, with missing or wrong fields. */
const fragments = fc.array(
  fc.record(
    {
      type: fc.constantFrom(...types),
      id: fc.constantFrom('1', '2'),
      toolCallId: fc.constantFrom('1', '2'),
      toolName: fc.constant('shell'),
      delta: fc.oneof(fc.string(), fc.constant(null)),
      input: fc.oneof(fc.json(), fc.string()),
      error: fc.anything(),
      finishReason: fc.oneof(fc.constantFrom({ unified: 'stop' }, { unified: 'error' }, {}), fc.constant(null)),
      usage: fc.oneof(fc.constant({ inputTokens: {}, outputTokens: {} }), fc.constant(null)),
      providerMetadata: fc.oneof(fc.constant({ made: { a: 1 } }), fc.constant(null)),
    },
    { requiredKeys: ['type'] },
  ),
  { maxLength: 20 },
)

const modelOf = (parts: readonly unknown[]): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'made-up',
  modelId: 'model',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('not used')),
  doStream: async () => ({ stream: ReadableStream.from(parts as readonly LanguageModelV4StreamPart[]) }), // on purpose
})

it('ends exactly once, last, and never throws, for any stream', async () => {
  await fc.assert(
    fc.asyncProperty(fragments, async (sent) => {
      const parts: ModelPart[] = []
      const provider = createAiSdkProvider(modelOf(sent), { title: 'made-up' })
      for await (const part of provider.stream(aRequest(), { signal: new AbortController().signal })) parts.push(part)
      expect(parts.flatMap(({ type }, index) => (type === 'end' ? [index] : []))).toEqual([parts.length - 1])
    }),
    { numRuns: 300 },
  )
})
