import type { ContextUsage } from '@holdfast/client'
import { limits } from '@holdfast/protocol'
import { tokensText } from './usage-text.ts'

/** Returns the context usage in short form. */
export const contextShort = ({ tokens, contextTokens }: ContextUsage): string =>
  `${tokensText(tokens)} / ${contextTokens === null ? `${tokensText(limits.contextTokens)}?` : tokensText(contextTokens)}`

/** Returns it for screen readers. */
export const contextSpoken = ({ tokens, contextTokens, isEstimate }: ContextUsage): string =>
  `${isEstimate ? 'about ' : ''}${tokensText(tokens)} of ${tokensText(contextTokens ?? limits.contextTokens)} tokens`

/** Returns the tooltip. */
export function contextHint(context: ContextUsage): string {
  const usage = `The context holds ${contextSpoken(context)}. Above ${limits.compactAt * 100} % old messages are summarized.`
  return context.contextTokens !== null
    ? usage
    : `${usage} The limit of this model is not known; this is an assumption.`
}
