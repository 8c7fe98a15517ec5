import { type CommandInput, orThrow, type SessionHandle, type Sessions, type StartOptions } from '@holdfast/protocol'

/** Talks to a session as a person would: one thing after the other, each to its end. */
export interface Talk {
  /** Sends a prompt and waits until its turn is over. */
  ask(text: string): Promise<void>
  /** Sends a command that must be taken, and returns what it is answered. */
  tell(command: CommandInput): Promise<Record<string, unknown>>
  /** The fault a command meets; `ok` when it meets none. */
  refusal(command: CommandInput): Promise<string>
  /** The words of the line, or of a branch, oldest first: what people said and what was answered. */
  words(branch?: string): Promise<readonly string[]>
}

export function talkTo(handle: SessionHandle): Talk {
  const tell = async (command: CommandInput) => orThrow(await handle.submit(command)).result
  return {
    tell,
    async ask(text) {
      const { seq: after } = orThrow(await handle.snapshot())
      await tell({ type: 'sendPrompt', content: text })
      for await (const frame of handle.subscribe({ after })) {
        if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return
      }
    },
    async refusal(command) {
      const answer = await handle.submit(command)
      return answer.ok ? 'ok' : answer.fault.code
    },
    async words(branch) {
      const { messages } = orThrow(await handle.page({ limit: 500, branch }))
      return messages.flatMap((message) =>
        message.kind === 'user' || message.kind === 'assistant' ? [message.text] : [],
      )
    },
  }
}

/** Starts a session in which someone has spoken and been answered. */
export async function spokenIn(sessions: Sessions, start: Partial<StartOptions> = {}): Promise<SessionHandle> {
  const handle = orThrow(await sessions.start({ workdir: '/work', ...start }))
  await talkTo(handle).ask('Hello')
  return handle
}
