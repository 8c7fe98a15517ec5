import { type CommandInput, commandResult, type Decision, type SessionHandle } from '@holdfast/protocol'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import type { RunOutput } from '../render/run-output.ts'
import type { Screen } from './screen.ts'

type TypistDeps = {
  readonly handle: SessionHandle
  readonly client: string
  readonly screen: Screen
  readonly output: RunOutput
  readonly leave: () => void
}

const decisions: Readonly<Record<string, Decision>> = {
  y: 'approve',
  yes: 'approve',
  s: 'approve_session',
  n: 'reject',
  no: 'reject',
}

/** Sends what the user types: prompts, slash commands, and answers to questions. */
export function createTypist({ handle, client, screen, output, leave }: TypistDeps) {
  async function send(command: CommandInput): Promise<void> {
    const answer = await handle.submit(command, { as: client })
    if (!answer.ok) return output.note(escapeHidden(answer.fault.message))
    if (command.type !== 'sendPrompt') return
    const { queued } = commandResult('sendPrompt', answer.value)
    if (queued !== undefined) await output.note('Queued: it joins the running turn at its next step.')
  }

  return {
    /** Handles a typed line. */
    async type(line: string): Promise<void> {
      const text = line.trim()
      const question = screen.question()
      const decision = question && screen.isDriving() ? decisions[text.toLowerCase()] : undefined
      if (text === '') return
      if (text === '/leave') return leave()
      if (text === '/drive') return send({ type: 'claimDriver', takeOver: true })
      if (question && decision)
        return send({ type: 'respondToApproval', decision, approval: question.id, via: 'holdfast attach' })
      return send({ type: 'sendPrompt', content: line })
    },
    /** Aborts the turn, if this client drives one. */
    async interrupt(): Promise<'aborted' | 'nothing runs'> {
      if (!screen.isDriving() || !screen.isRunning()) return 'nothing runs'
      await output.note('Aborting. Press Ctrl-C again to leave.')
      await send({ type: 'abort' })
      return 'aborted'
    },
  }
}
