import {
  Event,
  type Frame,
  type FrameOf,
  invariant,
  type Message,
  Meta,
  messageOf,
  noUsage,
  Recorded,
  SessionId,
  type SessionView,
} from '@holdfast/protocol'

export const sessionId = SessionId.parse('ses_01k5zzzzzzzzzzzzzzzzzzzzzz')
const at = '2026-01-01T00:00:00.000Z'

export const meta: Meta = Meta.parse({
  id: sessionId,
  handle: 'calm-harbor-12',
  title: 'A talk',
  workspace: '/tmp/w',
  model: 'demo/agent',
  status: 'idle',
  mode: 'exec',
  createdAt: at,
  lastMessageAt: at,
  messageCount: 0,
  turnCount: 0,
  branchCount: 1,
  usage: noUsage,
  preview: '',
  recentText: '',
  pinned: false,
  attachments: 0,
})

export const view: SessionView = {
  status: 'idle',
  mode: 'exec',
  activity: 'idle',
  model: 'demo/agent',
  thinkingLevel: 'off',
  step: null,
  pendingApprovals: [],
  activeToolCalls: [],
  queue: [],
  lastTurn: null,
}

export const said = (seq: number, text = `message ${seq}`): Recorded =>
  Recorded.parse({ seq, at, v: 1, event: { type: 'user.said', turn: 0, content: [{ type: 'text', text }] } })

export const recorded = (seq: number, event: unknown): FrameOf<'record'> => ({
  type: 'record',
  sessionId,
  record: { seq, at, v: 1, event: Event.parse(event) },
})

export const record = (seq: number): FrameOf<'record'> => ({ type: 'record', sessionId, record: said(seq) })

export const message = (seq: number): Message => {
  const made = messageOf(said(seq), null)
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
