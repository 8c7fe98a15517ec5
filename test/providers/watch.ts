import type { Session } from '@holdfast/client'
import type { Frame } from '@holdfast/protocol'

/** Resolves once these words of a running answer were shown. */
export async function shown(session: Session, words: string): Promise<void> {
  for await (const frame of session.subscribe()) if (textsIn(frame).some((text) => text.includes(words))) return
  throw new Error(`the session ended before it said ${words}`)
}

function textsIn(frame: Frame): readonly string[] {
  if (frame.type === 'delta') return frame.kind === 'text' ? [frame.text] : []
  return frame.type === 'draft' ? frame.parts.map(({ text }) => text) : []
}

/** Resolves when no turn runs, with the reason for which the last one ended. */
export async function rested(session: Session): Promise<string> {
  for await (const frame of session.subscribe()) {
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return frame.record.event.reason
    if (frame.type !== 'snapshot') continue
    const { activity, lastTurn } = frame.view
    if ((activity === 'idle' || activity === 'error') && lastTurn) return lastTurn.reason
  }
  throw new Error('the session ended before its turn did')
}
