import type { Recorded } from '@holdfast/protocol'

type SaidEvent = Extract<Recorded['event'], { readonly type: 'text.said' | 'thinking.said' }>

/** Returns the notes about retries. */
export const listRetryNotes = (records: readonly Recorded[]): readonly string[] =>
  records.flatMap(({ event }) => (event.type === 'note.added' && event.code === 'retry' ? [event.text] : []))

/** Returns the model's answers after its first settled call, or all without a call. */
function saidEvents(records: readonly Recorded[]): readonly SaidEvent[] {
  const settled = records.findIndex(({ event }) => event.type === 'call.settled')
  return records
    .slice(settled + 1)
    .flatMap(({ event }) => (event.type === 'text.said' || event.type === 'thinking.said' ? [event] : []))
}

export const listTexts = (records: readonly Recorded[]): readonly string[] =>
  saidEvents(records).map(({ text }) => text)

/** Returns the texts that are marked as cut. */
export const listCutTexts = (records: readonly Recorded[]): readonly string[] =>
  saidEvents(records).flatMap(({ text, interrupted }) => (interrupted ? [text] : []))
