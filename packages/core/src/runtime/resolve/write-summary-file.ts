import { type EventOf, fault, firstLine, invariant, ok, type Result, refuse } from '@holdfast/protocol'
import { artefactRequest } from '../../context/summary-request.ts'
import { modelNow } from '../../session/state.ts'
import type { EffectDeps } from '../dependencies.ts'
import { writeSummary } from '../effects/write-summary.ts'
import { readWindow } from '../log/read-window.ts'

type Saved = Pick<EventOf<'summary.saved'>, 'path' | 'text' | 'usage' | 'model'>

/** Has the model write a note about the session, and puts it into the workdir. Null when nothing has been said. */
export async function writeSummaryFile(parts: EffectDeps, signal: AbortSignal): Promise<Result<Saved | null>> {
  const { store, session, state, artefacts } = parts
  const { origin } = state()
  invariant(origin, 'a session that can be summarised was started')
  const window = await readWindow(store, session, state())
  if (window.messages.length === 0 && !window.summary) return ok(null)
  const written = await writeSummary(parts, (model) => artefactRequest(model, window), signal)
  if ('message' in written) return refuse(fault(written.type, written.message, { model: modelNow(state()) }))
  if ('failed' in written) return refuse(fault('summary_failed', `No summary was written: ${written.failed}`))
  const { text, usage, model } = written
  const title = firstLine(text, 80).replace(/^#+\s*/, '')
  const path = await artefacts.save(origin.workdir, title, text)
  return path.ok ? ok({ path: path.value, text, usage, model }) : path
}
