import {
  ApprovalId,
  type CallView,
  type ChildView,
  createTranscript,
  type Frame,
  type Message,
  type ModelFault,
  messageOf,
  type PendingApproval,
  type Recorded,
  type TurnEnd,
} from '@holdfast/protocol'

/** One thing that happens in a turn. */
export type TurnItem =
  /**
   * The next fragment of what the model says, or of its thinking. `step` counts the model calls of the prompt from 0:
   * where it grows, a new text begins.
   */
  | { readonly type: 'text' | 'thinking'; readonly text: string; readonly step: number }
  /** The model asks for a tool call, which may still need an approval. */
  | { readonly type: 'tool_call'; readonly call: CallView }
  /** A call has its result, was denied or was interrupted. */
  | { readonly type: 'tool_result'; readonly call: CallView }
  /**
   * A call waits for approval. Answer with `session.respondToApproval(decision, approval.id)`. With `child` a call of this
   * subagent waits: answer with its id as the option `child`.
   */
  | {
      readonly type: 'approval'
      readonly approval: PendingApproval
      readonly child?: Pick<ChildView, 'id' | 'handle' | 'agent' | 'task'> | undefined
    }
  /** A subagent started, waits for an approval or has ended. */
  | { readonly type: 'subagent'; readonly subagent: ChildView }
  /** A message for people, such as a retry or a reached limit. */
  | {
      readonly type: 'notice'
      readonly level: 'info' | 'error'
      readonly text: string
      readonly code?: string | undefined
    }
  /** The last item of every turn: why it ended, and why the model call failed if `reason` is `failed`. */
  | { readonly type: 'end'; readonly reason: TurnEnd; readonly fault?: ModelFault | undefined }

/** Turns the frames of a turn into items. Live text comes as fragments; a record adds only the text that was not live. */
export function createTurnItems(): (frame: Frame) => readonly TurnItem[] {
  const calls = createTranscript()
  const shown = { text: 0, thinking: 0 }
  const recorded = { text: 0, thinking: 0 }
  let step: number | null = null
  let count = 0
  let index = -1

  const beginStep = (next: number) => {
    if (next === step) return
    step = next
    count += 1
    index = -1
    Object.assign(shown, { text: 0, thinking: 0 })
    Object.assign(recorded, { text: 0, thinking: 0 })
  }
  /** Returns what was not shown of all `text` of a kind up to position `upTo` of the step. */
  const rest = (kind: 'text' | 'thinking', text: string, upTo: number): readonly TurnItem[] => {
    const missing = upTo - shown[kind]
    if (missing <= 0) return []
    shown[kind] = upTo
    return [{ type: kind, text: text.slice(-missing), step: count - 1 }]
  }
  const addDraft = (frame: Extract<Frame, { type: 'draft' }>) => {
    beginStep(frame.step)
    index = frame.index
    return (['thinking', 'text'] as const).flatMap((kind) => {
      const text = frame.parts.map((part) => (part.kind === kind ? part.text : '')).join('')
      return rest(kind, text, text.length)
    })
  }
  const addDelta = ({ step: of, index: at, kind, text }: Extract<Frame, { type: 'delta' }>) => {
    if (kind === 'input') return []
    beginStep(of)
    if (at <= index) return [] // the draft has it
    index = at
    return kind === 'output' ? [] : rest(kind, text, shown[kind] + text.length)
  }
  const addSaid = (kind: 'text' | 'thinking', of: number, text: string) => {
    beginStep(of)
    recorded[kind] += text.length
    return rest(kind, text, recorded[kind])
  }

  const asked = new Set<string>()
  const statuses = new Map<string, ChildView['status']>()
  const addChild = (view: ChildView): readonly TurnItem[] => {
    const { id, handle, agent, task, status } = view
    const fresh = view.pendingApprovals.filter((approval) => !asked.has(`${id}:${approval.id}`))
    for (const approval of fresh) asked.add(`${id}:${approval.id}`)
    const changed: readonly TurnItem[] = statuses.get(id) === status ? [] : [{ type: 'subagent', subagent: view }]
    statuses.set(id, status)
    const child = { id, handle, agent, task }
    return [...changed, ...fresh.map((approval): TurnItem => ({ type: 'approval', approval, child }))]
  }

  return (frame) => {
    if (frame.type === 'draft') return addDraft(frame)
    if (frame.type === 'delta') return addDelta(frame)
    if (frame.type === 'child') return frame.view ? addChild(frame.view) : []
    if (frame.type !== 'record') return []
    const { seq, event } = frame.record
    if (event.type === 'step.started') beginStep(seq)
    if (event.type === 'text.said') return addSaid('text', event.step, event.text)
    if (event.type === 'thinking.said') return addSaid('thinking', event.step, event.text)
    return itemsOf(frame.record, calls)
  }
}

/** Returns the items of a record that is not text. `calls` collects the calls of the turn. */
function itemsOf(record: Recorded, calls: ReturnType<typeof createTranscript>): readonly TurnItem[] {
  const { seq, event } = record
  const callOf = (id: number) => calls.messages.find((message) => message.id === id)
  switch (event.type) {
    case 'call.requested':
      calls.add(record)
      return callItem('tool_call', callOf(seq))
    case 'approval.asked': {
      calls.add(record)
      const { call, tool, preview, changed } = event
      const approval = { id: ApprovalId.parse(seq), call, tool, preview, ...(changed && { changed }) }
      return [{ type: 'approval', approval }]
    }
    case 'question.asked': {
      calls.add(record)
      const { call, tool, preview } = event
      return [{ type: 'approval', approval: { id: ApprovalId.parse(seq), call, tool, preview } }]
    }
    case 'question.answered':
    case 'call.approved':
    case 'call.started':
    case 'child.started':
    case 'child.ended':
      calls.add(record)
      return []
    case 'call.settled':
      calls.add(record)
      return callItem('tool_result', callOf(event.call))
    default: {
      const message = messageOf(record, null)
      if (message?.kind !== 'notice' && message?.kind !== 'system') return []
      const code = message.kind === 'notice' ? message.code : undefined
      return [{ type: 'notice', level: message.level, text: message.text, ...(code !== undefined && { code }) }]
    }
  }
}

const callItem = (type: 'tool_call' | 'tool_result', message: Message | undefined): readonly TurnItem[] =>
  message?.kind === 'tool_call' ? [{ type, call: message.call }] : []
