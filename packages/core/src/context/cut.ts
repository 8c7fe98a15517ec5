import { MessageId } from '@holdfast/protocol'
import { messageTokens, stepOf, type Window, type WindowMessage } from './window.ts'

/** At least this many messages stay verbatim. */
const keptMessages = 6

/** Where to cut a window: everything before `keepFrom` goes into a summary. */
type Cut = {
  readonly keepFrom: number
  /** The prompt of the running turn, if it lies before the cut: it is kept verbatim. */
  readonly prompt: MessageId | null
  readonly cut: readonly WindowMessage[]
  readonly savedTokens: number
}

/**
 * Chooses where to cut. The last messages stay, from the beginning of their round, so that no call is separated from
 * its result. `turn` is the running turn. Null when there is nothing to cut.
 */
export function chooseCut({ messages, prompt: kept }: Window, turn: number | null): Cut | null {
  const index = roundStart(messages, Math.max(messages.length - keptMessages, 0))
  const first = messages[index]
  if (index === 0 || !first) return null
  const cut = messages.slice(0, index)
  const asked =
    turn === null ? null : (cut.find(({ event }) => event.type === 'user.said' && event.turn === turn) ?? kept)
  const savedTokens = cut.reduce((sum, message) => sum + (message === asked ? 0 : messageTokens(message)), 0)
  return {
    // An answer begins at its step, so that a reader sees all of it.
    keepFrom: stepOf(first) ?? first.seq,
    prompt: asked ? MessageId.parse(asked.seq) : null,
    cut,
    savedTokens,
  }
}

function roundStart(messages: readonly WindowMessage[], from: number): number {
  let index = from
  while (index > 0) {
    const [before, here] = [messages[index - 1], messages[index]]
    const isSame = before && here && stepOf(here) !== null && stepOf(here) === stepOf(before)
    if (!isSame) return index
    index--
  }
  return 0
}
