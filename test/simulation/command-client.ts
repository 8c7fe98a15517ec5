import { isDeepStrictEqual } from 'node:util'
import { type Answer, CommandId, type CommandInput, type FaultCode, type Result } from '@holdfast/protocol'
import type { Simulation } from './simulation.ts'
import { submitAs } from './submit-as.ts'

type Sent = {
  tries: number
  readonly id: CommandId
  readonly command: CommandInput
  /** The client that sends it; null for the embedding program. */
  readonly as: string | null
  readonly answers: Result<Answer>[]
  readonly recorded: Result<Answer>[]
}

/** Commands that leave a record whenever they are accepted. */
const alwaysRecorded = new Set([
  ...['sendPrompt', 'queueFollowUp', 'continue', 'respondToApproval'],
  ...['editQueueEntry', 'removeQueueEntry', 'setToolTrust', 'revokeToolTrust'],
])

/** Commands that a client which only watches may send: all clients of a run may drive. */
const isForViewers = ({ type }: CommandInput) => type === 'claimDriver' || type === 'handOver' || type === 'abort'

/** Another process owns the session, or its disk refuses writes. The client retries. */
const unreachable = new Set<FaultCode>(['storage_error', 'fenced', 'log_moved', 'session_locked', 'session_stopped'])

/** A client that sends commands and retries them, some even after an answer. */
export type CommandClient = {
  readonly sent: readonly Sent[]
  send(command: CommandInput, as?: string | null): void
  sendAgain(): void
}

export function createCommandClient({ host, durableLog, dice, drivers }: Simulation): CommandClient {
  const sent: Sent[] = []
  const complain = (problem: string) => void durableLog.violations.push(`command client: ${problem}`)

  function submit(one: Sent): void {
    const { id, command, as } = one
    const since = drivers.moment()
    const isFirst = one.tries++ === 0
    submitAs(host().handle, command, as, id).then(
      (answer) => {
        take(one, answer)
        if (isFirst && as !== null && answer.ok && !isForViewers(command) && !drivers.couldCommand(as, since))
          complain(`${command.type} ${id} was accepted from ${as}, who only watches`)
      },
      (error: unknown) => complain(`${command.type} threw ${error}`),
    )
  }

  function take({ id, command, answers, recorded }: Sent, answer: Result<Answer>): void {
    answers.push(answer)
    const record = durableLog.records.find(({ commandId }) => commandId === id)
    if (!answer.ok) {
      if (record && answer.fault.code === 'not_driver') complain(`${command.type} ${id} was refused, and is stored`)
      // A recorded command is never refused later, unless the session is unreachable.
      if (record && !unreachable.has(answer.fault.code))
        complain(`${command.type} ${id} was admitted, then refused: ${answer.fault.code}`)
      return
    }
    if (!record && alwaysRecorded.has(command.type))
      complain(`${command.type} ${id} was acknowledged and is not stored`)
    if (record) recorded.push(answer)
    const [first] = recorded
    if (record && !isDeepStrictEqual(first, answer))
      complain(`${command.type} ${id} was answered ${JSON.stringify(first)}, then ${JSON.stringify(answer)}`)
  }

  return {
    sent,
    send(command, as = null) {
      const id = CommandId.parse(`cmd-${sent.length + 1}`)
      const one: Sent = { id, command, as, tries: 0, answers: [], recorded: [] }
      sent.push(one)
      submit(one)
    },
    sendAgain() {
      const one = dice.pick(sent)
      if (one) submit(one)
    },
  }
}
