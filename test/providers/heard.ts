import type { Recorded } from '@holdfast/protocol'

type SaidEvent = Extract<Recorded['event'], { readonly type: 'text.said' | 'thinking.said' }>

/** What people were told of calls that were tried again. */
export const retries = (records: readonly Recorded[]): readonly string[] =>
  records.flatMap(({ event }) => (event.type === 'note.added' && event.code === 'retry' ? [event.text] : []))

/** What the model said after its first call came back, or all of it where there was none. */
function saidEvents(records: readonly Recorded[]): readonly SaidEvent[] {
  const settled = records.findIndex(({ event }) => event.type === 'call.settled')
  return records
    .slice(settled + 1)
    .flatMap(({ event }) => (event.type === 'text.said' || event.type === 'thinking.said' ? [event] : []))
}

export const said = (records: readonly Recorded[]): readonly string[] => saidEvents(records).map(({ text }) => text)

/** What of it is marked as cut. */
export const cut = (records: readonly Recorded[]): readonly string[] =>
  saidEvents(records).flatMap(({ text, interrupted }) => (interrupted ? [text] : []))
