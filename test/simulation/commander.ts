import { isDeepStrictEqual } from 'node:util'
import { type Answer, CommandId, type CommandInput, type Result } from '@holdfast/protocol'
import type { World } from './world.ts'

type Sent = {
  readonly id: CommandId
  readonly command: CommandInput
  readonly answers: Result<Answer>[]
  readonly recorded: Result<Answer>[]
}

/** Commands that leave a record whenever they are accepted. */
const alwaysRecorded = new Set(['sendPrompt', 'continue', 'respondToApproval'])

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
    if (!answer.ok) return
    const record = ledger.records.find(({ commandId }) => commandId === id)
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
