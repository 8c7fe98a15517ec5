import { type Outcome, outcomeOutput } from '../event/call.ts'
import type { EventOf, LostRecord, Recorded } from '../event/event.ts'
import type { FileChange } from '../event/file-change.ts'
import { hookText } from '../event/hook.ts'
import { contentText } from '../value/content-text.ts'
import { ApprovalId, CallId, type Instant, MessageId, TurnNumber } from '../value/id.ts'
import { isOnLine } from '../value/line.ts'
import type { CallFile, CallStatus, CallView, Message } from '../view/message.ts'
import type { FrameOf } from './frame.ts'
import { createLiveParts, type LivePart, type LivePosition } from './live-parts.ts'

/** Folds records into messages for every screen: terminal, page and `show --json`. */
export interface Transcript {
  readonly messages: readonly Message[]
  /** Parts that are streaming and not yet recorded. */
  readonly live: readonly LivePart[]
  /** Grows with every change, so that a screen knows when to redraw. */
  readonly version: number
  add(record: Recorded): void
  /** Adds a notice in place of a damaged record, with the time of its neighbours. */
  addLost(record: LostRecord, near?: Instant): void
  /** Adds an older page at the front. */
  prepend(messages: readonly Message[]): void
  addLive(frame: FrameOf<'delta'> | FrameOf<'draft'>): void
}

/** Creates a transcript. Each record costs O(1). A changed message is a new object, so screens can compare by identity. */
export function createTranscript(initial: readonly Message[] = [], isCollapsed = false): Transcript {
  let messages: Message[] = [...initial]
  const live = createLiveParts()
  let liveStep: number | null = null
  let liveIndex = -1
  /** The last step whose answer is among the messages. Fragments of it that arrive later were sent before it ended. */
  let endedStep = lastEndedStep(initial)
  let version = 0
  /** Whether new tool calls start collapsed. */
  let collapsesNew = isCollapsed
  const indexes = new Map<number, number>()
  const reindex = () => {
    indexes.clear()
    for (const [index, message] of messages.entries()) indexes.set(message.id, index)
  }
  reindex()

  const change = (id: number, update: (message: Message) => Message) => {
    const index = indexes.get(id)
    const message = index === undefined ? undefined : messages[index]
    if (index !== undefined && message) messages[index] = update(message)
  }
  const changeCall = (id: number, update: (call: CallView) => CallView) =>
    change(id, (message) => (message.kind === 'tool_call' ? { ...message, call: update(message.call) } : message))
  const collapseAll = (collapsed: boolean) => {
    collapsesNew = collapsed
    messages = messages.map((message) => (message.kind === 'tool_call' ? { ...message, collapsed } : message))
  }

  /** Whether the messages have a streamed part already: they may come from a snapshot that is ahead of the stream. */
  const isRecorded = ({ kind, step, call }: LivePosition): boolean => {
    if (kind !== 'output') return step <= endedStep
    const index = call === undefined ? undefined : indexes.get(call)
    const message = index === undefined ? undefined : messages[index]
    return message?.kind === 'tool_call' && message.call.result !== null
  }

  return {
    get messages() {
      return messages
    },
    get live() {
      return live.list()
    },
    get version() {
      return version
    },

    add(record) {
      version++
      const { event } = record
      live.drop(event)
      if (event.type === 'step.ended') endedStep = event.step
      const message = messageOf(record, messages.at(-1)?.id ?? null)
      if (message) {
        indexes.set(message.id, messages.length)
        messages.push(collapsesNew && message.kind === 'tool_call' ? { ...message, collapsed: true } : message)
      }
      if (event.type === 'question.asked') {
        const approval = { id: ApprovalId.parse(record.seq), preview: event.preview }
        changeCall(event.call, (call) => ({ ...call, approval }))
      } else if (event.type === 'question.answered') {
        changeCall(event.call, (call) => ({ ...call, approval: null }))
      } else if (event.type === 'approval.asked') {
        const approval = { id: ApprovalId.parse(record.seq), preview: event.preview }
        changeCall(event.call, (call) => ({ ...call, approval, approvedBy: null }))
      } else if (event.type === 'call.rewritten') {
        changeCall(event.call, (call) => ({ ...call, args: event.args, rewrittenBy: event.hook }))
      } else if (event.type === 'call.approved') {
        changeCall(event.call, (call) => ({ ...answered(call), approvedBy: event.by }))
      } else if (event.type === 'call.started') {
        changeCall(event.call, (call) => ({ ...call, status: 'running' }))
      } else if (event.type === 'call.settled') {
        changeCall(event.call, (call) => settled(call, event))
      } else if (event.type === 'child.started') {
        const { child: session, agent, task, background } = event
        const child = { session, agent, task, ...(background && { background }) }
        changeCall(event.call, (call) => ({ ...call, child }))
      } else if (event.type === 'child.ended') {
        changeCall(event.call, (call) =>
          call.child ? { ...call, child: { ...call.child, outcome: event.status } } : call,
        )
      } else if (event.type === 'files.touched') {
        if (event.call !== undefined)
          changeCall(event.call, (call) => ({ ...call, files: withLater(call.files, event.files.map(fileOf)) }))
      } else if (event.type === 'message.pinned') {
        change(event.message, (message) => ({ ...message, pinned: event.pinned }))
      } else if (event.type === 'message.collapsed') {
        if (event.message === null) collapseAll(event.collapsed)
        else change(event.message, (message) => ({ ...message, collapsed: event.collapsed }))
      } else if (event.type === 'line.moved') {
        messages = messages.filter(({ id }) => isOnLine(event.to, id))
        reindex()
      }
    },

    addLost({ seq }, near) {
      version++
      const last = messages.at(-1)
      if (indexes.has(seq)) return
      indexes.set(seq, messages.length)
      messages.push(lostMessage(seq, last, near))
    },

    prepend(older) {
      version++
      messages = [...older, ...messages]
      reindex()
    },

    addLive(frame) {
      version++
      if (frame.type === 'draft') {
        live.replace(frame.parts.filter((part) => !isRecorded(part)))
        liveStep = frame.step
        liveIndex = frame.index
        return
      }
      if (frame.step === liveStep && frame.index <= liveIndex) return // the draft already holds it
      if (isRecorded(frame)) return
      liveStep = frame.step
      liveIndex = frame.index
      live.add(frame, frame.text)
    },
  }
}

/** Returns the last step that has ended; -1 if there is none. Steps are numbered upwards. */
const lastEndedStep = (messages: readonly Message[]): number =>
  messages.findLast((message) => message.kind === 'usage')?.step ?? -1

const statuses: Record<Outcome['type'], CallStatus> = {
  ok: 'complete',
  failed: 'error',
  denied: 'denied',
  interrupted: 'interrupted',
}

function settled(call: CallView, { outcome, durationMs, files = [] }: EventOf<'call.settled'>): CallView {
  return {
    ...answered(call),
    status: statuses[outcome.type],
    result: outcomeOutput(outcome),
    durationMs,
    ...(files.length > 0 && { files: files.map(fileOf) }),
  }
}

/** Adds what a call did to files after it was settled. What is said later of a path counts. */
const withLater = (files: readonly CallFile[] = [], later: readonly CallFile[]): CallFile[] => [
  ...files.filter(({ path }) => !later.some((one) => one.path === path)),
  ...later,
]

const fileOf = ({ path, change, from, outside, during }: FileChange): CallFile => ({
  path,
  change,
  ...(from !== undefined && { from }),
  ...(outside && { outside }),
  ...(during && { during }),
})

/** Ends the approval of a call. Its diff stays: what a person approved can be read later. Other previews repeat the arguments. */
function answered(call: CallView): CallView {
  const preview = call.approval?.preview
  return { ...call, approval: null, ...(preview?.type === 'diff' && { preview }) }
}

/** Returns the message a record becomes, or null. */
export function messageOf({ seq, at, event }: Recorded, parent: MessageId | null): Message | null {
  // A cast: to parse the seq of each record of a long session takes as long as to parse its JSON.
  const id = seq as MessageId
  const common = { id, parent, at, pinned: false, collapsed: false }
  switch (event.type) {
    case 'user.said':
      // No spread here and for text: with one, V8 takes twice as long and stores each message in two objects.
      return {
        kind: 'user',
        id,
        parent,
        at,
        pinned: false,
        collapsed: false,
        turn: event.turn,
        parts: event.content,
        text: event.typed ?? contentText(event.content),
        ...(event.typed !== undefined && { isExpanded: true as const }),
        ...(event.child && { child: event.child }),
      }
    case 'thinking.said':
    case 'text.said': {
      const { turn, step, text, interrupted } = event
      const kind = event.type === 'text.said' ? 'assistant' : 'thinking'
      const message = { kind, id, parent, at, pinned: false, collapsed: false, turn, step, text } as const
      return interrupted ? { ...message, interrupted } : message
    }
    case 'call.requested': {
      const { turn, step, tool, args } = event
      const call = {
        id: CallId.parse(seq),
        tool,
        args,
        status: 'waiting',
        result: null,
        durationMs: null,
        approvedBy: null,
        approval: null,
      } as const
      return { kind: 'tool_call', ...common, turn, step, call }
    }
    case 'step.ended': {
      const { turn, step, finish, usage, fault } = event
      return { kind: 'usage', ...common, turn, step, finish, usage, ...(fault && { fault }) }
    }
    case 'note.added': {
      const { turn, kind, level, text, code } = event
      if (kind === 'system') return { kind, ...common, turn, level, text }
      return { kind, ...common, turn, level, text, ...(code !== undefined && { code }) }
    }
    case 'hook.ran': {
      const { type: _, turn, about: _about, ...hook } = event
      const level = hook.outcome === 'failed' ? 'error' : 'info'
      return { kind: 'notice', ...common, turn, level, code: 'hook', text: hookText(hook), hook }
    }
    case 'checkpoint.written':
      return { kind: 'notice', ...common, turn: event.turn, level: 'info', code: 'compacted', text: event.summary }
    case 'summary.saved': {
      const text = `The summary was saved to ${event.path}.`
      return { kind: 'notice', ...common, turn: event.turn, level: 'info', code: 'summarized', text }
    }
    default:
      return null
  }
}

function lostMessage(seq: number, last: Message | undefined, near: Instant | undefined): Message {
  const text = `Record ${seq} is damaged and cannot be shown. It may have been a message or the result of a call.`
  return {
    kind: 'notice',
    id: MessageId.parse(seq),
    parent: last?.id ?? null,
    turn: last?.turn ?? TurnNumber.parse(0),
    at: last?.at ?? near ?? new Date(0).toISOString(),
    pinned: false,
    collapsed: false,
    level: 'error',
    code: 'lost',
    text,
  }
}
