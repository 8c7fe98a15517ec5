import { textTokens } from '@holdfast/protocol'
import { chooseCut } from '../../context/cut.ts'
import { compactionRequest } from '../../context/text-request.ts'
import { messageTokens } from '../../context/window.ts'
import type { NewCheckpoint } from '../../session/input.ts'
import type { EffectDeps } from '../dependencies.ts'
import { readWindow } from '../log/read-window.ts'
import { writeSummary } from './write-text.ts'

/**
 * Lets a model summarise everything before the last messages. Nothing is recorded until it is done, so a crash changes
 * nothing. Null when there is nothing to cut.
 */
export async function writeCheckpoint(
  deps: EffectDeps,
  signal: AbortSignal,
): Promise<NewCheckpoint | { readonly failed: string } | null> {
  const { store, session } = deps
  const now = deps.state()
  const window = await readWindow(store, session, now)
  const cut = chooseCut(window, now.turn.phase === 'idle' ? null : now.turn.number)
  if (cut === null) return null
  // A prompt that was kept verbatim, and no longer is, goes into the summary.
  const dropped = window.prompt && window.prompt.seq !== cut.prompt ? [window.prompt] : []
  const written = await writeSummary(
    deps,
    (model) => compactionRequest(model, window, [...dropped, ...cut.cut]),
    signal,
  )
  if ('message' in written) return { failed: written.message }
  if ('failed' in written) return written
  const { keepFrom, prompt, savedTokens } = cut
  const { text: summary, usage, model } = written
  const replacedTokens =
    savedTokens + textTokens(window.summary ?? '') + dropped.reduce((sum, message) => sum + messageTokens(message), 0)
  if (textTokens(summary) > replacedTokens)
    return { failed: 'The summary came out longer than the messages it would replace.' }
  return { summary, keepFrom, ...(prompt !== null && { prompt }), savedTokens, usage, model }
}
