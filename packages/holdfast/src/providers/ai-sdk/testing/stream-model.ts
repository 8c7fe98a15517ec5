import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'

/** Creates a model that streams given parts. */
export const streamModel = (stream: ReadableStream<LanguageModelV4StreamPart>): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'made-up',
  modelId: 'model',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('not used')),
  doStream: async () => ({ stream }),
})
