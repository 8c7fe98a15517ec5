import { entriesOf, type LiveView } from '@holdfast/client'
import {
  type ApprovalId,
  type CommandId,
  type CommandInput,
  createCommandId,
  type Decision,
  type Fault,
  type MessageId,
  type Mode,
  ok,
  type Queue,
  type QueueEntry,
  type Result,
  type TurnNumber,
} from '@holdfast/protocol'
import { useMemo, useRef, useState } from 'react'

/** How a prompt joins a running turn. Without one, both start a turn. */
export type SaidAs = 'sendPrompt' | 'queueFollowUp'

/** The commands of the page; the same functions while the session is open. */
export type Asks = {
  readonly send: (text: string, as: SaidAs) => Promise<Fault | null>
  readonly decide: (approval: ApprovalId, decision: Decision, message: string) => Promise<Fault | null>
  readonly editEntry: (entry: QueueEntry, text: string) => Promise<Fault | null>
  readonly removeEntry: (entry: QueueEntry) => void
  readonly reorder: (queue: Queue, entries: readonly number[]) => void
  /** Returns the recalled prompts; none when refused. */
  readonly recall: () => Promise<readonly QueueEntry[]>
  readonly stop: () => void
  readonly carryOn: () => void
  readonly setMode: (mode: Mode, keepPlan: boolean) => void
  readonly revokeTrust: (tool: string) => void
  readonly claim: () => void
  readonly handOver: (client: string) => void
  /** Goes back to the end of a turn; what came after is saved as a branch. */
  readonly branchAt: (turn: TurnNumber) => void
  /** Goes back to the end of a turn, null for the start; what came after is saved as a branch. */
  readonly rewind: (turn: TurnNumber | null) => Promise<Fault | null>
  readonly switchBranch: (branch: string) => Promise<Fault | null>
  /** Returns the new session. */
  readonly fork: (turn?: TurnNumber) => Promise<Result<string>>
  readonly togglePin: (message: MessageId) => void
  readonly toggleFold: (message: MessageId) => void
  readonly toggleAllFolds: () => void
  readonly compact: () => Promise<Fault | null>
  readonly undoCompaction: () => void
  /** Returns the path of the summary. */
  readonly summarize: () => Promise<Result<string>>
}

export type Commands = Asks & {
  /** The fault of the last command. `send`, `decide`, `editEntry` and `switchBranch` return theirs instead. */
  readonly fault: Fault | null
  readonly asks: Asks
}

/** Creates the commands of the session on screen. */
export function useCommands(live: LiveView): Commands {
  const [fault, setFault] = useState<Fault | null>(null)
  const unanswered = useRef<{ readonly said: string; readonly commandId: CommandId } | null>(null)

  const asks = useMemo((): Asks => {
    const submit = async (command: CommandInput, commandId = createCommandId()): Promise<Fault | null> => {
      const answer = await live.submit(command, { commandId })
      return answer.ok ? null : answer.fault
    }
    const ask = (command: CommandInput) => void submit(command).then(setFault)
    /** Submits, shows a fault, and returns one field of the answer. */
    const askFor = async (command: CommandInput, name: string): Promise<Result<string>> => {
      const answer = await live.submit(command)
      setFault(answer.ok ? null : answer.fault)
      return answer.ok ? ok(String(answer.value.result[name])) : answer
    }
    const tried = async (command: CommandInput): Promise<Fault | null> => {
      const refused = await submit(command)
      setFault(refused)
      return refused
    }
    return {
      send: async (text: string, as: SaidAs) => {
        // The answer may have been lost. The same text sent again uses the same command id.
        const before = unanswered.current
        const said = `${as} ${text}`
        const commandId = before?.said === said ? before.commandId : createCommandId()
        const fault = await submit({ type: as, content: text }, commandId)
        unanswered.current = fault?.code === 'unreachable' ? { said, commandId } : null
        if (!fault) setFault(null)
        return fault
      },
      decide: (approval: ApprovalId, decision: Decision, message: string) =>
        submit({ type: 'respondToApproval', approval, decision, ...(message !== '' && { message }) }),
      editEntry: ({ id, content }: QueueEntry, text: string) => {
        const files = content.filter(({ type }) => type === 'file') // only the text is edited here
        return submit({ type: 'editQueueEntry', entry: id, content: [{ type: 'text', text }, ...files] })
      },
      removeEntry: ({ id }: QueueEntry) => ask({ type: 'removeQueueEntry', entry: id }),
      reorder: (queue: Queue, entries: readonly number[]) =>
        ask({ type: 'reorderQueue', queue, entries: [...entries] }),
      recall: async () => {
        const answer = await live.submit({ type: 'recallQueues' })
        setFault(answer.ok ? null : answer.fault)
        return answer.ok ? entriesOf(answer.value.result) : []
      },
      stop: () => ask({ type: 'abort' }),
      carryOn: () => ask({ type: 'continue' }),
      setMode: (mode: Mode, keepPlan: boolean) =>
        ask(mode === 'plan' ? { type: 'enterPlan' } : { type: 'enterExec', ...(keepPlan && { keepPlan }) }),
      revokeTrust: (tool: string) => ask({ type: 'revokeToolTrust', tool }),
      claim: () => ask({ type: 'claimDriver' }),
      handOver: (client: string) => ask({ type: 'handOver', client }),
      branchAt: (turn) => ask({ type: 'branchAt', turn }),
      rewind: (turn) => tried(turn === null ? { type: 'setHistory', messages: [] } : { type: 'rewind', turn }),
      switchBranch: (branch) => submit({ type: 'switchBranch', branch }),
      fork: (turn) => askFor({ type: 'fork', ...(turn !== undefined && { at: turn }) }, 'session'),
      togglePin: (message) => ask({ type: 'togglePin', message }),
      toggleFold: (message) => ask({ type: 'toggleToolCollapse', message }),
      toggleAllFolds: () => ask({ type: 'toggleAllToolCollapses' }),
      compact: () => tried({ type: 'compact' }),
      undoCompaction: () => ask({ type: 'undoCompaction' }),
      summarize: () => askFor({ type: 'summarize' }, 'path'),
    }
  }, [live])
  return { fault, asks, ...asks }
}
