import type { Message, MessageId, SessionHandle } from '@holdfast/protocol'

/**
 * Returns `sentence`, which says that no file changed. If the session ran a shell command, that is not known for sure, and the
 * text says so instead.
 */
export async function noChangesText(handle: Pick<SessionHandle, 'page'>, sentence: string): Promise<string> {
  if (!(await mayHaveRunCommand(handle))) return sentence
  return 'No changed file is on record. What shell commands change is recorded only in a git repository, and of one in the background only once it has ended.'
}

const isRunCommand = (message: Message): boolean =>
  message.kind === 'tool_call' && message.call.tool === 'shell' && message.call.status !== 'denied'

/** Pages of the transcript that are searched for a command. What was before them is not known for sure. */
const searchedPagesMax = 20

/** Whether the transcript has a shell command that ran, or may have one. Reads it from its end. */
async function mayHaveRunCommand(handle: Pick<SessionHandle, 'page'>): Promise<boolean> {
  let before: MessageId | null | undefined
  for (let pages = 0; before !== null; pages++) {
    if (pages >= searchedPagesMax) return true
    const page = await handle.page({ before })
    if (!page.ok) return true
    if (page.value.messages.some(isRunCommand)) return true
    before = page.value.before
  }
  return false
}

/** Says that `touchedFiles` has not read all changes. */
export const cutFilesText = 'The session has very many changes: only the files of the newest ones are listed.'
