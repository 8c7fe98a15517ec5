import {
  type Answer,
  type CommandInput,
  type Decision,
  type Frame,
  type FrameOf,
  type Message,
  type MessageId,
  type Meta,
  type ModelFault,
  orThrow,
  type PageRequest,
  type PendingApproval,
  type SessionHandle,
  type SessionId,
  type SessionView,
  type Status,
  type SubmitOptions,
  type SubscribeOptions,
  type TranscriptPage,
  type Usage,
} from '@holdfast/protocol'

export type CommandOptions = SubmitOptions
type PromptContent = Extract<CommandInput, { readonly type: 'sendPrompt' }>['content']
type CommandResult = Answer['result']

export type EditorSnapshot = {
  readonly status: Status
  /** The oldest that waits. */
  readonly pendingApproval: PendingApproval | null
  readonly pendingApprovals: readonly PendingApproval[]
  readonly error: ModelFault | null
  readonly activeToolName: string | null
}

/** A session as a program holds it, here or across the network. A refusal is thrown as a `HoldfastError`. */
export interface Session {
  readonly id: SessionId
  sendPrompt(content: PromptContent, options?: CommandOptions): Promise<CommandResult>
  /** Answers the approval `id`, or the oldest that waits; `message` tells the model why not. */
  respondToApproval(decision: Decision, id?: number, message?: string, options?: CommandOptions): Promise<CommandResult>
  abort(options?: CommandOptions): Promise<CommandResult>
  continue(options?: CommandOptions): Promise<CommandResult>
  enterPlan(options?: CommandOptions): Promise<CommandResult>
  enterExec(options?: CommandOptions): Promise<CommandResult>
  /** The whole line, oldest first. */
  messages(): Promise<readonly Message[]>
  messagesWithIds(): Promise<readonly { readonly id: MessageId; readonly message: Message }[]>
  status(): Promise<Status>
  metadata(): Promise<Meta>
  usage(): Promise<Usage>
  activeToolCalls(): Promise<SessionView['activeToolCalls']>
  getQueuedMessages(): Promise<SessionView['queue']>
  editorSnapshot(): Promise<EditorSnapshot>
  subscribe(options?: SubscribeOptions): AsyncIterable<Frame>
}

export function createSession(handle: SessionHandle): Session {
  const submit = async (command: CommandInput, options?: CommandOptions): Promise<CommandResult> =>
    orThrow(await handle.submit(command, options)).result
  const snapshot = async (): Promise<FrameOf<'snapshot'>> => orThrow(await handle.snapshot())
  const messages = async () => {
    const pages: (readonly Message[])[] = []
    let next: PageRequest | null = {}
    while (next) {
      const page: TranscriptPage = orThrow(await handle.page(next))
      pages.unshift(page.messages)
      next = page.before === null ? null : { before: page.before }
    }
    return pages.flat()
  }

  return {
    id: handle.id,
    sendPrompt: (content, options) => submit({ type: 'sendPrompt', content }, options),
    respondToApproval: (decision, approval, message, options) =>
      submit(
        {
          type: 'respondToApproval',
          decision,
          ...(approval !== undefined && { approval }),
          ...(message !== undefined && { message }),
        },
        options,
      ),
    abort: (options) => submit({ type: 'abort' }, options),
    continue: (options) => submit({ type: 'continue' }, options),
    enterPlan: (options) => submit({ type: 'enterPlan' }, options),
    enterExec: (options) => submit({ type: 'enterExec' }, options),
    messages,
    messagesWithIds: async () => (await messages()).map((message) => ({ id: message.id, message })),
    status: async () => (await snapshot()).view.status,
    metadata: async () => (await snapshot()).meta,
    usage: async () => (await snapshot()).meta.usage,
    activeToolCalls: async () => (await snapshot()).view.activeToolCalls,
    getQueuedMessages: async () => (await snapshot()).view.queue,
    editorSnapshot: async () => editorSnapshotOf((await snapshot()).view),
    subscribe: (options) => handle.subscribe(options),
  }
}

function editorSnapshotOf({ status, pendingApprovals, activeToolCalls, lastTurn }: SessionView): EditorSnapshot {
  return {
    status,
    pendingApproval: pendingApprovals[0] ?? null,
    pendingApprovals,
    error: lastTurn?.fault ?? null,
    activeToolName: activeToolCalls[0]?.tool ?? null,
  }
}
