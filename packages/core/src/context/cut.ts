import { MessageId } from '@holdfast/protocol'
import { messageTokens, stepOf, type Window, type WindowMessage } from './window.ts'

/** At least so many messages stay as they were said. */
const keptMessages = 6

/** Where a window may be cut: everything before `keepFrom` goes into a summary. */
export type Cut = {
  readonly keepFrom: number
  /** The prompt of the running turn, if it would go too: it is kept as it was said. */
  readonly prompt: MessageId | null
  readonly cut: readonly WindowMessage[]
  readonly savedTokens: number
}

/**
 * Cuts at a closed round only, so that no call is parted from its result: the last messages stay, widened to the
 * beginning of their round. `turn` is the turn that runs, if one does. Null when there is nothing before that.
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
    // An answer begins with its step, so that whoever reads from there sees all of it.
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
