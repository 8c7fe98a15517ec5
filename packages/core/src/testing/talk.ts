import { type CommandInput, orThrow, type SessionHandle, type Sessions, type StartOptions } from '@holdfast/protocol'

/** Drives a session like a person: one command after the other, each to its end. */
export interface Talk {
  /** Sends a prompt and waits for the end of its turn. */
  ask(text: string): Promise<void>
  /** Sends a command that must be accepted, and returns its result. */
  send(command: CommandInput): Promise<Record<string, unknown>>
  /** Returns the code of the fault of a command, or `ok`. */
  refusal(command: CommandInput): Promise<string>
  /** Returns the texts of users and assistant on the line or a branch, oldest first. */
  words(branch?: string): Promise<readonly string[]>
}

export function talkTo(handle: SessionHandle): Talk {
  const send = async (command: CommandInput) => orThrow(await handle.submit(command)).result
  return {
    send: send,
    async ask(text) {
      const { seq: after } = orThrow(await handle.snapshot())
      await send({ type: 'sendPrompt', content: text })
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

/** Starts a session with one prompt and its answer. */
export async function spokenIn(sessions: Sessions, start: Partial<StartOptions> = {}): Promise<SessionHandle> {
  const handle = orThrow(await sessions.start({ workdir: '/work', ...start }))
  await talkTo(handle).ask('Hello')
  return handle
}
