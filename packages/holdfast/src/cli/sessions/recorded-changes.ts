import { type MessageId, orThrow, type SessionHandle } from '@holdfast/protocol'

/**
 * Returns `sentence`, which says that no file changed. If the session ran a shell command, that is not known for sure, and the
 * text says so instead.
 */
export async function noChangesText(handle: Pick<SessionHandle, 'page'>, sentence: string): Promise<string> {
  if (!(await hasRunCommand(handle))) return `${sentence}\n`
  return 'No changed file is on record. What shell commands change is recorded only in a git repository, and of one in the background only once it has ended.\n'
}

/** Whether the transcript has a shell command. Reads it from its end. */
async function hasRunCommand(handle: Pick<SessionHandle, 'page'>): Promise<boolean> {
  for (let before: MessageId | null | undefined; before !== null; ) {
    const page = orThrow(await handle.page({ before }))
    if (page.messages.some((message) => message.kind === 'tool_call' && message.call.tool === 'shell')) return true
    before = page.before
  }
  return false
}
