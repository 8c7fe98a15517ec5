import type { LiveView } from '@holdfast/client'
import {
  type Answers,
  type ApprovalId,
  type ApprovalRule,
  type CommandId,
  type CommandInput,
  type ContentPart,
  commandResult,
  createCommandId,
  type Decision,
  type Fault,
  type LineRange,
  type Message,
  type MessageId,
  type Mode,
  ok,
  type Queue,
  type QueueEntry,
  type RestoreInput,
  type Result,
  type SessionId,
  type ThinkingLevel,
  TurnNumber,
} from '@holdfast/protocol'
import { useMemo, useState } from 'react'
import type { StoredFile } from '../../draft-files/use-draft-files.ts'
import { controlOf, type SessionOnScreen } from './session-context.ts'

type Prompt = Extract<Message, { readonly kind: 'user' }>

/** Returns the turn before that of a prompt; null if it is the first. */
export const turnBefore = ({ parent, turn }: Pick<Prompt, 'parent' | 'turn'>): TurnNumber | null =>
  parent === null || turn === 0 ? null : TurnNumber.parse(turn - 1)

/** Returns the files of a prompt. */
export const filesOf = ({ parts }: Pick<Prompt, 'parts'>): readonly StoredFile[] =>
  parts.flatMap((part) => (part.type === 'file' ? [part] : []))

/** How a prompt joins a running turn. Without one, both start a turn. */
export type PromptKind = 'sendPrompt' | 'queueFollowUp'

/** The commands of the page; the same functions while the session is open. */
export type PageCommands = ReturnType<typeof createPageCommands>

export type Commands = PageCommands & {
  /** The fault of the last command. `send`, `decide`, `editEntry` and `switchBranch` return theirs instead. */
  readonly fault: Fault | null
  readonly asks: PageCommands
}

/** Creates the commands of the session on screen. */
export function useCommands(live: LiveView): Commands {
  const [fault, setFault] = useState<Fault | null>(null)
  const asks = useMemo(() => createPageCommands(live, setFault), [live])
  return { fault, asks, ...asks }
}

export function createPageCommands(live: LiveView, setFault: (fault: Fault | null) => void) {
  const onSends = new Set<() => void>()
  let unanswered: { readonly said: string; readonly commandId: CommandId } | null = null
  /** Sends a command. If nobody has control, as after the tab that had it was closed, this page takes it first. */
  const send: LiveView['submit'] = async (command, options) => {
    if (controlOf(live).isSeatFree && command.type !== 'claimDriver') await live.submit({ type: 'claimDriver' })
    return live.submit(command, options)
  }
  const submit = async (command: CommandInput, commandId = createCommandId()): Promise<Fault | null> => {
    const answer = await send(command, { commandId })
    return answer.ok ? null : answer.fault
  }
  const ask = (command: CommandInput) => void submit(command).then(setFault)
  /** Submits, shows a fault, and returns the answer. */
  const askFor = async (command: CommandInput) => {
    const answer = await send(command)
    setFault(answer.ok ? null : answer.fault)
    return answer
  }
  /** Does the same and returns one field of the answer. */
  const askForField = async (command: CommandInput, name: string): Promise<Result<string>> => {
    const answer = await askFor(command)
    return answer.ok ? ok(String(answer.value.result[name])) : answer
  }
  const tried = async (command: CommandInput): Promise<Fault | null> => {
    const answer = await askFor(command)
    return answer.ok ? null : answer.fault
  }
  const sendPrompt = async (content: string | readonly ContentPart[], as: PromptKind): Promise<Fault | null> => {
    for (const onSend of [...onSends]) onSend()
    // The answer may have been lost. The same text sent again uses the same command id.
    const said = `${as} ${JSON.stringify(content)}`
    const commandId = unanswered?.said === said ? unanswered.commandId : createCommandId()
    const fault = await submit({ type: as, content: typeof content === 'string' ? content : [...content] }, commandId)
    unanswered = fault?.code === 'unreachable' ? { said, commandId } : null
    setFault(null) // the composer, or the edited prompt, shows the new one
    return fault
  }
  /** Goes back to the end of a turn, null for the start; what came after is saved as a branch. */
  const rewind = (turn: TurnNumber | null) =>
    tried(turn === null ? { type: 'setHistory', messages: [] } : { type: 'rewind', turn })
  return {
    /**
     * Sends a prompt again, perhaps with another text. It and its answer are saved as a branch. Returns a fault if nothing
     * has changed. If the history was rewound and the prompt was refused, the text is taken back into the input.
     */
    resend: async (prompt: Prompt, text: string, takeBack: SessionOnScreen['takeBack']): Promise<Fault | null> => {
      const files = filesOf(prompt)
      const refused = await rewind(turnBefore(prompt))
      if (refused && refused.code !== 'unreachable') return refused
      // An unreachable server may have rewound all the same.
      const content = files.length === 0 ? text : [{ type: 'text' as const, text }, ...files]
      const fault = refused ?? (await sendPrompt(content, 'sendPrompt'))
      setFault(fault)
      if (fault) takeBack?.(text, files)
      return null
    },
    send: sendPrompt,
    /** Calls `listener` when a person sends a prompt, before it is answered, until the returned function is called. */
    followSends(listener: () => void): () => void {
      onSends.add(listener)
      return () => void onSends.delete(listener)
    },
    /** Answers an approval of the session, or of a subagent of it. */
    decide: (approval: ApprovalId, decision: Decision, message: string, child?: SessionId) =>
      submit({
        type: 'respondToApproval',
        approval,
        decision,
        ...(message !== '' && { message }),
        ...(child !== undefined && { child }),
      }),
    /** Answers the question of a running call, also of a subagent. */
    answer: (approval: ApprovalId, decision: Decision, answers: Answers | undefined, child?: SessionId) =>
      submit({
        type: 'respondToApproval',
        approval,
        decision,
        ...(answers && { answers }),
        ...(child !== undefined && { child }),
      }),
    editEntry: ({ id, content }: QueueEntry, text: string) => {
      const files = content.filter(({ type }) => type === 'file') // only the text is edited here
      return submit({ type: 'editQueueEntry', entry: id, content: [{ type: 'text', text }, ...files] })
    },
    removeEntry: ({ id }: QueueEntry) => ask({ type: 'removeQueueEntry', entry: id }),
    reorder: (queue: Queue, entries: readonly number[]) => ask({ type: 'reorderQueue', queue, entries: [...entries] }),
    /** Returns the recalled prompts; none when refused. */
    recall: async (): Promise<readonly QueueEntry[]> => {
      const answer = await askFor({ type: 'recallQueues' })
      return answer.ok ? commandResult('recallQueues', answer.value).entries : []
    },
    stop: () => ask({ type: 'abort' }),
    /** Ends a command in the background. Returns why not, if refused. */
    stopShell: (shell: string) => submit({ type: 'stopBackgroundShell', shell }),
    /** Sets the folder that the session works in. Returns why not, if refused. */
    moveWorkdir: async (workdir: string): Promise<Fault | null> => {
      const refused = await submit({ type: 'moveWorkdir', workdir })
      if (!refused) setFault(null) // it may say that there is no folder
      return refused
    },
    carryOn: () => ask({ type: 'continue' }),
    setMode: (mode: Mode, keepPlan: boolean) =>
      ask(mode === 'plan' ? { type: 'enterPlan' } : { type: 'enterExec', ...(keepPlan && { keepPlan }) }),
    /** Keeps the plan in the context, lets the agent make changes, and asks it to carry the plan out. */
    acceptPlan: async () => {
      const refused = await tried({ type: 'enterExec', keepPlan: true })
      if (!refused) setFault(await sendPrompt('Carry out the plan.', 'sendPrompt'))
    },
    /** Sets which calls ask. */
    setApprovals: (approvals: ApprovalRule) => ask({ type: 'setApprovals', approvals }),
    setModel: (model: string) => ask({ type: 'setModel', model }),
    setThinkingLevel: (level: ThinkingLevel) => ask({ type: 'setThinkingLevel', level }),
    revokeTrust: (tool: string) => ask({ type: 'revokeToolTrust', tool }),
    clearBoundary: (path: string | null) =>
      ask(path === null ? { type: 'clearAllBoundaries' } : { type: 'clearBoundary', path }),
    /** Lets tools change only these lines of a file. Returns why not, if refused. */
    setBoundary: (path: string, { start, end }: LineRange) => submit({ type: 'setBoundary', path, start, end }),
    setSkill: (name: string, isActive: boolean) => ask({ type: isActive ? 'activateSkill' : 'deactivateSkill', name }),
    setServer: (server: string, on: boolean) => ask({ type: 'setServer', server, on }),
    /** Tries again to reach a server. Returns why not, if that fails. */
    retryServer: (server: string) => submit({ type: 'retryServer', server }),
    /** Becomes the driver, also if another client drives. */
    claim: () => ask({ type: 'claimDriver', takeOver: true }),
    handOver: (client: string) => ask({ type: 'handOver', client }),
    /** Goes back to the end of a turn; what came after is saved as a branch. */
    branchAt: (turn: TurnNumber) => ask({ type: 'branchAt', turn }),
    rewind,
    /** Puts files back that calls changed. */
    restoreFiles: (request: RestoreInput) => send({ type: 'restoreFiles', ...request }),
    switchBranch: (branch: string) => submit({ type: 'switchBranch', branch }),
    /** Returns the new session. */
    fork: (turn?: TurnNumber) => askForField({ type: 'fork', ...(turn !== undefined && { at: turn }) }, 'session'),
    togglePin: (message: MessageId) => ask({ type: 'togglePin', message }),
    toggleFold: (message: MessageId) => ask({ type: 'toggleToolCollapse', message }),
    toggleAllFolds: () => ask({ type: 'toggleAllToolCollapses' }),
    compact: () => tried({ type: 'compact' }),
    undoCompaction: () => ask({ type: 'undoCompaction' }),
    /** Returns the path of the summary. */
    summarize: () => askForField({ type: 'summarize' }, 'path'),
  }
}
