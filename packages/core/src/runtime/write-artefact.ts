import { type EventOf, fault, firstLine, invariant, ok, type Result, refuse } from '@holdfast/protocol'
import { artefactRequest } from '../context/summary-request.ts'
import { askForText } from './ask-for-text.ts'
import type { EffectParts } from './effect/parts.ts'
import { readWindow } from './read-window.ts'

type Saved = Pick<EventOf<'summary.saved'>, 'path' | 'text' | 'usage'>

/** Has the model write a note about the session, and puts it into the workdir. Null when nothing has been said. */
export async function writeArtefact(parts: EffectParts, signal: AbortSignal): Promise<Result<Saved | null>> {
  const { models, store, session, state, artefacts } = parts
  const { settings, origin } = state()
  invariant(origin, 'a session that can be summarised was started')
  const readiness = models.find(settings.model)
  if (readiness.type !== 'ready') return refuse(fault(readiness.type, readiness.message, { model: settings.model }))
  const window = await readWindow(store, session, state())
  if (window.messages.length === 0 && !window.summary) return ok(null)
  const written = await askForText(readiness.provider, artefactRequest(settings.model, window), signal)
  if ('failed' in written) return refuse(fault('summary_failed', `No summary was written: ${written.failed}`))
  const { text, usage } = written
  const title = firstLine(text, 80).replace(/^#+\s*/, '')
  const path = await artefacts.save(origin.workdir, title, text)
  return path.ok ? ok({ path: path.value, text, usage }) : path
}
