import type { Finish, ModelName, Usage } from '@holdfast/protocol'
import type { Attributes } from '@opentelemetry/api'

/** The instrumentation scope of all spans and metrics. */
export const scope = 'holdfast'

/** Names of OpenTelemetry's conventions for generative AI. A test compares them with the published ones. */
export const names = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  tokenType: 'gen_ai.token.type',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
  errorType: 'error.type',
} as const

/** Names that the conventions lack. */
export const ownNames = {
  turn: 'holdfast.turn',
  turnEnd: 'holdfast.turn.end',
  tries: 'holdfast.tries',
  waitMs: 'holdfast.wait_ms',
} as const

/** Providers that the conventions name differently. */
const providerNames: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  'openai-chat': 'openai', // the same service by its older interface
}

/** Splits `provider/model` into the provider and model attributes of the conventions. */
export function modelAttributes(model: ModelName): { readonly model: string; readonly attributes: Attributes } {
  const [provider = '', ...rest] = model.split('/')
  const name = rest.join('/')
  return {
    model: name,
    attributes: { [names.provider]: providerNames[provider] ?? provider, [names.requestModel]: name },
  }
}

export const finishReasons: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  calls: 'tool_call',
  length: 'length',
  refused: 'content_filter',
  failed: 'error',
  aborted: 'error',
  interrupted: 'error',
}

/** Returns the input tokens, which include cache reads and writes by the conventions. */
export const inputOf = ({ input, cacheRead, cacheWrite }: Usage): number => input + cacheRead + cacheWrite

export const usageAttributes = (usage: Usage): Attributes => ({
  [names.inputTokens]: inputOf(usage),
  [names.outputTokens]: usage.output,
  [names.cacheReadTokens]: usage.cacheRead,
  [names.cacheWriteTokens]: usage.cacheWrite,
})
