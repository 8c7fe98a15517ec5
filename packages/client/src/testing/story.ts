import {
  type Frame,
  type FrameOf,
  invariant,
  type Message,
  messageOf,
  type Recorded,
  type StoredClientEvent,
} from '@holdfast/protocol'
import { aMeta, aRecord, aView, type EventInput } from '@holdfast/testkit/fixtures'

export const meta = aMeta()
export const view = aView()
export const sessionId = meta.id

export const userRecord = (seq: number, text = `message ${seq}`): Recorded =>
  aRecord(seq, { type: 'user.said', turn: 0, content: [{ type: 'text', text }] })

export const recorded = (seq: number, event: EventInput): FrameOf<'record'> => ({
  type: 'record',
  sessionId,
  record: aRecord(seq, event),
})

export const record = (seq: number): FrameOf<'record'> => ({ type: 'record', sessionId, record: userRecord(seq) })

export const message = (seq: number): Message => {
  const made = messageOf(userRecord(seq), null)
  invariant(made, 'a user message')
  return made
}

export const snapshot = (seq: number, more: Partial<FrameOf<'snapshot'>> = {}): FrameOf<'snapshot'> => ({
  type: 'snapshot',
  sessionId,
  seq,
  meta,
  view,
  messages: [],
  before: null,
  summary: null,
  here: {
    clients: [],
    storageError: null,
    credentialsConfigured: true,
    contextTokens: 200_000,
    workspaceTrust: [],
  },
  ...more,
})

export const end = (reason: FrameOf<'end'>['reason'], retryMs: number | null): Frame => ({
  type: 'end',
  sessionId,
  reason,
  retryMs,
})

/** A frame in one word, for comparing runs of them. */
export const word = (frame: Frame): string =>
  frame.type === 'record' ? String(frame.record.seq) : frame.type === 'snapshot' ? `snapshot ${frame.seq}` : frame.type

export const clientEvent = (seq: number): StoredClientEvent => ({
  seq,
  at: userRecord(seq).at,
  by: null,
  event: { eventId: `event-${seq}`, type: 'shown' },
})
