import { entriesOf, type LiveView } from '@holdfast/client'
import {
  type ApprovalId,
  type CommandId,
  type CommandInput,
  createCommandId,
  type Decision,
  type Fault,
  type Mode,
  type Queue,
  type QueueEntry,
} from '@holdfast/protocol'
import { useMemo, useRef, useState } from 'react'

/** How a prompt is meant in a running turn; at rest both begin one. */
export type SaidAs = 'sendPrompt' | 'queueFollowUp'

export type Commands = {
  /** Why the last of them was refused. `send`, `decide` and `editEntry` hand their fault to whoever asked. */
  readonly fault: Fault | null
  readonly send: (text: string, as: SaidAs) => Promise<Fault | null>
  readonly decide: (approval: ApprovalId, decision: Decision, message: string) => Promise<Fault | null>
  readonly editEntry: (entry: QueueEntry, text: string) => Promise<Fault | null>
  readonly removeEntry: (entry: QueueEntry) => void
  readonly reorder: (queue: Queue, entries: readonly number[]) => void
  /** What waited and is now taken back; nothing when that was refused. */
  readonly recall: () => Promise<readonly QueueEntry[]>
  readonly stop: () => void
  readonly carryOn: () => void
  readonly setMode: (mode: Mode, keepPlan: boolean) => void
  readonly revokeTrust: (tool: string) => void
  readonly claim: () => void
  readonly handOver: (client: string) => void
}

/** What a person can ask of the session on screen. */
export function useCommands(live: LiveView): Commands {
  const [fault, setFault] = useState<Fault | null>(null)
  const unanswered = useRef<{ readonly said: string; readonly commandId: CommandId } | null>(null)

  const asks = useMemo(() => {
    const submit = async (command: CommandInput, commandId = createCommandId()): Promise<Fault | null> => {
      const answer = await live.submit(command, { commandId })
      return answer.ok ? null : answer.fault
    }
    const ask = (command: CommandInput) => void submit(command).then(setFault)
    return {
      send: async (text: string, as: SaidAs) => {
        // Whether a lost answer was a yes nobody knows. The same words sent again are the same command, said once.
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
        const files = content.filter(({ type }) => type === 'file') // only its words are edited here
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
    }
  }, [live])
  return { fault, ...asks }
}
