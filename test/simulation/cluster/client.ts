import { CommandId, type CommandInput, type SessionId } from '@holdfast/protocol'
import { delegate } from './agent.ts'
import type { World } from './world.ts'

/** A client that sends commands to random nodes until each is acknowledged, under the same id. */
export type Client = {
  readonly session: SessionId
  /** The commands that were acknowledged, with their seqs. */
  readonly acknowledged: readonly { readonly commandId: string; readonly seq: number }[]
  /** Sends no further command. */
  stop(): void
}

/** Codes that a client may get while a session moves or the database is away. */
const transient = new Set<string>([
  ...['storage_error', 'unreachable', 'session_locked', 'session_stopped', 'fenced', 'log_moved', 'not_ready'],
  ...['workdir_elsewhere', 'internal'],
])
/** Codes that answer a command: it cannot be run now. */
const final = new Set<string>(['turn_running', 'approval_not_found', 'no_pending_approval'])

const [answerMsMax, pauseMsMax] = [1200, 400]

export function startClient({ clock, dice, nodes, database }: World, session: SessionId): Client {
  const acknowledged: { commandId: string; seq: number }[] = []
  let isStopped = false
  let sent = 0

  const next = (): CommandInput => {
    const roll = dice.below(6)
    if (roll < 2) return { type: 'sendPrompt', content: dice.chance(1, 2) ? `${delegate} it.` : 'Look around.' }
    if (roll === 2)
      return { type: 'respondToApproval', decision: dice.pick(['approve', 'reject'] as const) ?? 'reject' }
    if (roll === 3) return { type: 'abort' }
    return { type: 'rename', title: `Title ${sent}` }
  }

  function begin(): void {
    if (isStopped) return
    const commandId = `${session.slice(-2)}-${sent++}`
    insist(commandId, next())
  }

  /** Sends a command to a node. Without an answer in time, sends the same command to any node. */
  function insist(commandId: string, command: CommandInput): void {
    let isOver = false
    const over = (then: () => void) => {
      if (isOver) return
      isOver = true
      cancel()
      clock.after(1 + dice.below(pauseMsMax), then)
    }
    const again = () => (isStopped ? undefined : insist(commandId, command))
    const cancel = clock.after(answerMsMax, () => over(again))
    const node = dice.pick(nodes())
    node?.process.run(() => {
      node
        .session(session)
        .submit(command, { commandId: CommandId.parse(commandId) })
        .then(
          (answer) => {
            if (node.process.status !== 'running') return // its answer does not arrive
            if (answer.ok) {
              // Also when the client waits no more: the node believes that it is recorded.
              if (command.type === 'rename') acknowledged.push({ commandId, seq: answer.value.seq })
              return over(begin)
            }
            const { code, message } = answer.fault
            if (final.has(code)) return over(begin)
            if (!transient.has(code))
              database.audit.violations.push(`${command.type} ${commandId}: ${code}: ${message}`)
            over(again)
          },
          (error) => database.audit.violations.push(`${command.type} ${commandId} threw ${error}`),
        )
    })
  }

  begin()
  return {
    session,
    acknowledged,
    stop() {
      isStopped = true
    },
  }
}
