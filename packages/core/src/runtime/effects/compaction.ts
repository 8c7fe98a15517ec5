import { type HookRun, textTokens } from '@holdfast/protocol'
import { chooseCut } from '../../context/cut.ts'
import { compactionRequest } from '../../context/text-request.ts'
import { messageTokens, type Window } from '../../context/window.ts'
import type { NewCheckpoint } from '../../session/facts.ts'
import type { EffectDeps } from '../dependencies.ts'
import { readWindow } from '../log/read-window.ts'
import { runHooks } from './run-hooks.ts'
import { writeSummary } from './write-text.ts'

type Written = NewCheckpoint | { readonly failed: string } | { readonly vetoed: string }

/** What came of a compaction, and the hooks that were asked first. */
export type Compaction = { readonly written: Written | null; readonly hooks: readonly HookRun[] }

/**
 * Lets a model summarise everything before the last messages, if hooks agree. Nothing is recorded until it is done, so a crash
 * changes nothing. `written` is null when there is nothing to cut.
 */
export async function writeCheckpoint(
  deps: EffectDeps,
  trigger: 'manual' | 'auto',
  signal: AbortSignal,
): Promise<Compaction> {
  const { store, session } = deps
  const now = deps.state()
  const window = await readWindow(store, session, now)
  const cut = chooseCut(window, now.turn.phase === 'idle' ? null : now.turn.number)
  if (cut === null) return { written: null, hooks: [] }
  const ran = await runHooks(deps, { event: 'PreCompact', trigger }, signal)
  const hooks = ran?.runs ?? []
  const veto = ran?.answer.block ?? ran?.answer.stop ?? null
  return { written: veto === null ? await summarise(deps, window, cut, signal) : { vetoed: veto }, hooks }
}

type Cut = NonNullable<ReturnType<typeof chooseCut>>

async function summarise(
  deps: EffectDeps,
  window: Window,
  cut: Cut,
  signal: AbortSignal,
): Promise<NewCheckpoint | { readonly failed: string }> {
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
