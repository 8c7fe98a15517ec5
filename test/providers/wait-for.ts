import type { Session } from '@holdfast/client'
import type { Frame } from '@holdfast/protocol'

/** Resolves once a running answer shows this text. */
export async function waitForText(session: Session, words: string): Promise<void> {
  for await (const frame of session.subscribe()) if (textsIn(frame).some((text) => text.includes(words))) return
  throw new Error(`the session ended before it showed ${words}`)
}

function textsIn(frame: Frame): readonly string[] {
  if (frame.type === 'delta') return frame.kind === 'text' ? [frame.text] : []
  return frame.type === 'draft' ? frame.parts.map(({ text }) => text) : []
}

/** Resolves when no turn runs, with the end reason of the last one. */
export async function waitForRest(session: Session): Promise<string> {
  for await (const frame of session.subscribe()) {
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return frame.record.event.reason
    if (frame.type !== 'snapshot') continue
    const { activity, lastTurn } = frame.view
    if ((activity === 'idle' || activity === 'error') && lastTurn) return lastTurn.reason
  }
  throw new Error('the session ended before its turn did')
}
