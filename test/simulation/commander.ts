import { isDeepStrictEqual } from 'node:util'
import { type Answer, CommandId, type CommandInput, type FaultCode, type Result } from '@holdfast/protocol'
import type { World } from './world.ts'

type Sent = {
  readonly id: CommandId
  readonly command: CommandInput
  readonly answers: Result<Answer>[]
  readonly recorded: Result<Answer>[]
}

/** Commands that leave a record whenever they are accepted. */
const alwaysRecorded = new Set([
  ...['sendPrompt', 'queueFollowUp', 'continue', 'respondToApproval'],
  ...['editQueueEntry', 'removeQueueEntry', 'setToolTrust', 'revokeToolTrust'],
])

/** The session has moved, or its disk says no; the client asks again. */
const unreachable = new Set<FaultCode>(['storage_error', 'fenced', 'log_moved', 'session_locked', 'session_stopped'])

/** A client that commands, and sends again what it got no answer to, and sometimes what it did. */
export type Commander = {
  readonly sent: readonly Sent[]
  send(command: CommandInput): void
  sendAgain(): void
}

export function createCommander({ host, ledger, dice }: World): Commander {
  const sent: Sent[] = []
  const complain = (problem: string) => void ledger.violations.push(`a commander: ${problem}`)

  function submit(one: Sent): void {
    const { id, command } = one
    host()
      .handle.submit(command, { commandId: id })
      .then(
        (answer) => take(one, answer),
        (error: unknown) => complain(`${command.type} threw ${error}`),
      )
  }

  function take({ id, command, answers, recorded }: Sent, answer: Result<Answer>): void {
    answers.push(answer)
    const record = ledger.records.find(({ commandId }) => commandId === id)
    if (!answer.ok) {
      // What was admitted is not refused any more, unless the session cannot be reached at all.
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
    send(command) {
      const one: Sent = { id: CommandId.parse(`cmd-${sent.length + 1}`), command, answers: [], recorded: [] }
      sent.push(one)
      submit(one)
    },
    sendAgain() {
      const one = dice.pick(sent)
      if (one) submit(one)
    },
  }
}
