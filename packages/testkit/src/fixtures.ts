import { Event, eventVersion, Frame, Message, Meta, noUsage, Recorded, SessionView } from '@holdfast/protocol'
import type { z } from 'zod'

// This file must run in a browser, because tests of the page use it.

/** Creates the view of an idle session, with changes. */
export const aView = (changes: Partial<z.input<typeof SessionView>> = {}): SessionView =>
  SessionView.parse({
    status: 'idle',
    mode: 'exec',
    activity: 'idle',
    approvals: 'destructive',
    readOnly: false,
    model: 'demo/agent',
    thinkingLevel: 'off',
    fallback: null,
    step: null,
    pendingApprovals: [],
    activeToolCalls: [],
    queue: [],
    trust: [],
    boundaries: [],
    skills: [],
    serversOff: [],
    todos: [],
    branches: [],
    branch: null,
    pins: [],
    collapsed: false,
    tokens: 0,
    isEstimate: true,
    turnUsage: null,
    checkpoint: null,
    lastTurn: null,
    clientEventsComplete: false,
    ...changes,
  })

/** A message before parsing: its ids are plain numbers and strings. */
export type MessageInput = z.input<typeof Message>
/** The kind of a message. */
export type MessageKind = MessageInput['kind']
/** A message of one kind before parsing. */
export type MessageInputOf<One extends MessageKind> = Extract<MessageInput, { readonly kind: One }>
/** The fields of every kind of message. */
export type CommonFields = 'kind' | 'id' | 'parent' | 'turn' | 'at' | 'pinned' | 'collapsed'
/** The fields a test must give for a message of this kind. The others have defaults. */
export type MessageFields<One extends MessageKind> = Omit<MessageInputOf<One>, CommonFields | 'step' | 'parts'> &
  Partial<MessageInputOf<One>>

const common = {
  id: 7,
  parent: null,
  turn: 0,
  step: 2,
  at: '2026-01-02T03:04:05.678Z',
  pinned: false,
  collapsed: false,
}

/** Creates a message of this kind. */
export function aMessage<One extends MessageKind>(kind: One, fields: MessageFields<One>): Message {
  const text = 'text' in fields ? fields.text : ''
  return Message.parse({ kind, ...common, parts: [{ type: 'text', text }], ...fields }) // removes fields that the kind does not have
}

/** Creates the message of a settled shell call, with changes. */
export const aToolCall = (changes: Partial<MessageInputOf<'tool_call'>['call']> = {}): Message =>
  aMessage('tool_call', {
    call: {
      id: 7,
      tool: 'shell',
      args: { command: 'echo hi' },
      status: 'complete',
      result: { text: 'hi\n' },
      durationMs: 12.4,
      approvedBy: { client: 'cli' },
      approval: null,
      ...changes,
    },
  })

const at = '2026-01-01T00:00:00.000Z'

/** Creates the metadata of a session without messages, with changes. */
export const aMeta = (changes: Partial<z.input<typeof Meta>> = {}): Meta =>
  Meta.parse({
    id: 'ses_01k5zzzzzzzzzzzzzzzzzzzzzz',
    handle: 'calm-harbor-12',
    title: 'A talk',
    workspace: '/work',
    model: 'demo/agent',
    provider: 'demo',
    status: 'idle',
    mode: 'exec',
    createdAt: at,
    lastMessageAt: at,
    messageCount: 0,
    turnCount: 0,
    branchCount: 0,
    usage: noUsage,
    preview: '',
    recentText: '',
    pinned: false,
    attachments: 0,
    ...changes,
  })

/** An event before parsing: its ids are plain numbers and strings. */
export type EventInput = z.input<typeof Event>

/** What a record may say besides its event. */
export type RecordFields = Partial<Pick<z.input<typeof Recorded>, 'at' | 'by' | 'commandId'>>

/** Creates a record of an event. */
export function aRecord(seq: number, input: EventInput, more: RecordFields = {}): Recorded {
  const event = Event.parse(input)
  return Recorded.parse({ seq, at: '2026-01-01T00:00:00.000Z', v: eventVersion[event.type], ...more, event })
}

/** A frame before parsing, without the id of its session. */
export type FrameInput = WithoutSession<z.input<typeof Frame>>
/** Each type of a union without the id of the session. */
export type WithoutSession<One> = One extends unknown ? Omit<One, 'sessionId'> : never

/** Creates a frame of the session of `aMeta`. */
export const aFrame = (fields: FrameInput): Frame =>
  Frame.parse({ sessionId: 'ses_01k5zzzzzzzzzzzzzzzzzzzzzz', ...fields })
