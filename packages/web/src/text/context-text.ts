import type { ContextUsage } from '@holdfast/client'
import { limits } from '@holdfast/protocol'
import { tokensText } from './usage-text.ts'

/** How full the model's context is, in a few words. */
export const contextShort = ({ tokens, contextTokens }: ContextUsage): string =>
  `${tokensText(tokens)} / ${contextTokens === null ? `${tokensText(limits.contextTokens)}?` : tokensText(contextTokens)}`

/** The same as it is read out. */
export const contextSpoken = ({ tokens, contextTokens, isEstimate }: ContextUsage): string =>
  `${isEstimate ? 'about ' : ''}${tokensText(tokens)} of ${tokensText(contextTokens ?? limits.contextTokens)} tokens`

/** What it means, for whoever stays on it. */
export function contextHint(context: ContextUsage): string {
  const told = `The model is told ${contextSpoken(context)}. Beyond ${limits.compactAt * 100} % the past is summed up.`
  return context.contextTokens !== null ? told : `${told} Nobody knows how much this model takes; that is a guess.`
}
