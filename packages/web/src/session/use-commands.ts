import {
  type ApprovalId,
  type CommandId,
  type CommandInput,
  createCommandId,
  type Decision,
  type Fault,
  type Mode,
  type SessionHandle,
} from '@holdfast/protocol'
import { useMemo, useRef, useState } from 'react'

export type Commands = {
  /** Why the last of stop, continue and mode was refused. The others hand their fault to whoever asked. */
  readonly fault: Fault | null
  readonly send: (text: string) => Promise<Fault | null>
  readonly decide: (approval: ApprovalId, decision: Decision, message: string) => Promise<Fault | null>
  readonly stop: () => void
  readonly carryOn: () => void
  readonly setMode: (mode: Mode) => void
}

/** What a person can ask of the session on screen. */
export function useCommands(handle: SessionHandle): Commands {
  const [fault, setFault] = useState<Fault | null>(null)
  const unanswered = useRef<{ readonly text: string; readonly commandId: CommandId } | null>(null)

  const asks = useMemo(() => {
    const submit = async (command: CommandInput, commandId = createCommandId()): Promise<Fault | null> => {
      const answer = await handle.submit(command, { commandId })
      return answer.ok ? null : answer.fault
    }
    const ask = async (command: CommandInput) => setFault(await submit(command))
    return {
      send: async (text: string) => {
        // Whether a lost answer was a yes nobody knows. The same words sent again are the same command, said once.
        const before = unanswered.current
        const commandId = before?.text === text ? before.commandId : createCommandId()
        const fault = await submit({ type: 'sendPrompt', content: text }, commandId)
        unanswered.current = fault?.code === 'unreachable' ? { text, commandId } : null
        if (!fault) setFault(null)
        return fault
      },
      decide: (approval: ApprovalId, decision: Decision, message: string) =>
        submit({ type: 'respondToApproval', approval, decision, ...(message !== '' && { message }) }),
      stop: () => void ask({ type: 'abort' }),
      carryOn: () => void ask({ type: 'continue' }),
      setMode: (mode: Mode) => void ask({ type: mode === 'plan' ? 'enterPlan' : 'enterExec' }),
    }
  }, [handle])
  return { fault, ...asks }
}
