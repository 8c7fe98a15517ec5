import type { ModelStatus } from '@holdfast/protocol'
import type { ModelReadiness } from '../../ports/provider.ts'

/** What clients are told of a session's model: never its key. */
export function modelStatus(model: ModelReadiness): ModelStatus {
  if (model.type !== 'ready') return { credentialsConfigured: false, contextTokens: null }
  const { contextTokens, endpoint, takes, thinkingLevels } = model
  return {
    credentialsConfigured: true,
    contextTokens: contextTokens ?? null,
    ...(endpoint !== undefined && { endpoint }),
    ...(takes !== undefined && { takes: [...takes] }),
    ...(thinkingLevels !== undefined && { thinkingLevels: [...thinkingLevels] }),
  }
}
