import {
  clipLine,
  eventTokens,
  isCountedMessage,
  isMessageEvent,
  type Line,
  messageEvents,
  type Seq,
  type SessionId,
  TurnNumber,
} from '@holdfast/protocol'
import type { Log } from '../../ports/store/log.ts'
import type { TurnEndPosition } from '../../session/facts.ts'
import { type Spans, walkLine } from './walk-line.ts'

type Found = { readonly seq: Seq; readonly turn: number; readonly end: TurnEndPosition }

/** Finds the last end of a turn on a line by binary search, as turn numbers grow; null when it has not ended there. */
export async function findTurnEnd(
  log: Pick<Log, 'read'>,
  id: SessionId,
  line: Line,
  head: Seq,
  turn: number,
): Promise<TurnEndPosition | null> {
  const spans = clipLine(line, 0, head)
  let best: Found | null = null
  let low = 0
  let high = seqsIn(spans)
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const found = await firstEnd(log, id, spans, middle)
    if (found === null || found.turn > turn) high = middle
    else {
      best = found
      low = positionOf(spans, found.seq) + 1
    }
  }
  return best?.turn === turn ? measured(log, id, spans, best.end) : null
}

/** Finds the last end of a turn on the line. */
export async function findLastEnd(log: Pick<Log, 'read'>, id: SessionId, line: Line, head: Seq) {
  const spans = clipLine(line, 0, head)
  for await (const end of walkLine(log, id, spans, { types: ['turn.ended'], newestFirst: true, pageSize: 1 })) {
    const found = foundIn(end)
    if (found) return measured(log, id, spans, found.end)
  }
  return null
}

/** Returns the length of the line at its end: as recorded, or counted if the beginning of the line was hidden since. */
async function measured(
  log: Pick<Log, 'read'>,
  id: SessionId,
  spans: Spans,
  end: TurnEndPosition,
): Promise<TurnEndPosition> {
  const [first] = spans
  const [begin] = first ? await log.read(id, { after: first.from - 1, upTo: first.from, limit: 1 }) : []
  // A whole line begins with its session or its first turn; a truncated one with a message.
  if (!begin || 'lost' in begin || !isMessageEvent(begin.event)) return end
  const kept = spans.flatMap(({ from, to }) => (from <= end.seq ? [{ from, to: Math.min(to, end.seq) }] : []))
  let messages = 0
  let tokens = 0
  for await (const record of walkLine(log, id, kept, { types: [...messageEvents, 'call.settled'] })) {
    if ('lost' in record || isCountedMessage(record.event)) messages++
    if (!('lost' in record)) tokens += eventTokens(record.event)
  }
  return { ...end, messages, tokens }
}

/** Finds the first end of a turn at or after a position of the line. */
async function firstEnd(log: Pick<Log, 'read'>, id: SessionId, spans: Spans, position: number): Promise<Found | null> {
  let skip = position
  for (const { from, to } of spans) {
    const length = to - from + 1
    if (skip < length) {
      const [end] = await log.read(id, { after: from + skip - 1, upTo: to, limit: 1, types: ['turn.ended'] })
      const found = end && foundIn(end)
      if (found) return found
    }
    skip = Math.max(skip - length, 0)
  }
  return null
}

function foundIn(record: Awaited<ReturnType<Log['read']>>[number]): Found | null {
  if ('lost' in record || record.event.type !== 'turn.ended') return null
  const { turn, reason, messages = 0, tokens = 0 } = record.event
  const { seq } = record
  return { seq, turn, end: { seq, turns: TurnNumber.parse(turn + 1), messages, tokens, last: { turn, reason } } }
}

const seqsIn = (spans: Spans): number => spans.reduce((sum, { from, to }) => sum + to - from + 1, 0)

const positionOf = (spans: Spans, seq: Seq): number =>
  spans.reduce((sum, { from, to }) => sum + Math.max(Math.min(to, seq - 1) - from + 1, 0), 0)
