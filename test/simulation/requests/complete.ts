import type { SessionState } from '@holdfast/core'
import type { ModelRequest } from '@holdfast/core/ports'
import { invariant, isOnLine, type Recorded } from '@holdfast/protocol'
import type { RequestsFixture } from './fixture.ts'

/**
 * Checks that a request contains all messages of the line, because services also accept incomplete ones. It reads the
 * records themselves, not the window that the builder reads.
 */
export async function checkComplete(
  { store, session }: RequestsFixture,
  state: SessionState,
  request: ModelRequest,
): Promise<void> {
  const records = (await store.read(session, { after: 0, limit: 1000 })).flatMap((one) => ('lost' in one ? [] : [one]))
  invariant(records.length < 1000, 'a run has fewer than 1,000 records')
  const from = Math.max(keptFrom(records, state), state.line[0]?.from ?? 0)
  const onLine = records.filter(({ seq, event }) => isOnLine(state.line, seq) && stepOf(event, seq) >= from)
  const inRequest = textsIn(request)
  let at = 0
  for (const one of onLine.flatMap(wordsOf)) {
    const next = inRequest.indexOf(one, at)
    invariant(next !== -1, `${one} is on the line and not in the request\n  ${JSON.stringify(request.messages)}`)
    at = next + 1
  }
  const results = new Set(resultsIn(request))
  for (const one of resultsOf(onLine, records)) {
    invariant(
      results.has(one),
      `result ${one} is recorded but not in the request\n  ${JSON.stringify(request.messages)}`,
    )
  }
}

function keptFrom(records: readonly Recorded[], { checkpoint }: SessionState): number {
  const event = records.find(({ seq }) => seq === checkpoint)?.event
  return event?.type === 'checkpoint.written' ? event.keepFrom : 0
}

const stepOf = (event: Recorded['event'], seq: number): number =>
  event.type === 'text.said' || event.type === 'call.requested' ? event.step : seq

function wordsOf({ seq, event }: Recorded): readonly string[] {
  switch (event.type) {
    case 'user.said':
      return event.content.flatMap((part) => (part.type === 'text' ? textOf('user', part.text) : []))
    case 'text.said':
      return textOf('assistant', event.text)
    case 'call.requested':
      return [`call c${seq}`]
    default:
      return []
  }
}

const textOf = (who: string, text: string): readonly string[] =>
  text.trim() === '' ? [] : [`${who}: ${text.toWellFormed()}`]

/** Returns the first outcome of each call. Later ones are not sent. */
function resultsOf(onLine: readonly Recorded[], records: readonly Recorded[]): readonly string[] {
  return onLine.flatMap(({ seq, event }) => {
    if (event.type !== 'call.requested') return []
    const settled = records.find((one) => one.event.type === 'call.settled' && one.event.call === seq)?.event
    if (settled?.type !== 'call.settled') return [`c${seq} failed`]
    const { outcome } = settled
    const hasOutput = outcome.type === 'ok' || outcome.type === 'failed'
    return [
      `c${seq} ${outcome.type === 'ok' ? 'ok' : 'failed'}`,
      ...(hasOutput ? [`c${seq}: ${outcome.output.text.toWellFormed()}`] : []),
    ]
  })
}

const textsIn = ({ messages }: ModelRequest): readonly string[] =>
  messages.flatMap(({ role, content }) =>
    content.flatMap((part) => {
      if (role === 'tool' || !('type' in part)) return []
      if (part.type === 'call') return [`call ${part.id}`]
      return part.type === 'text' ? [`${role}: ${part.text}`] : []
    }),
  )

const resultsIn = ({ messages }: ModelRequest): readonly string[] =>
  messages.flatMap((message) =>
    message.role === 'tool'
      ? message.content.flatMap(({ id, text, isError }) => [`${id} ${isError ? 'failed' : 'ok'}`, `${id}: ${text}`])
      : [],
  )
