import type { Message } from '@holdfast/protocol'
import { useLive } from '../state/session-context.ts'

/** Returns a number that changes whenever a call ended or files were put back, so that files may have changed. */
export const useFileChangeCount = (): number =>
  useLive(({ messages }) => messages.reduce((sum, message) => sum + changesIn(message), 0))

/** Counts what a message says about files: an ended call, what its command did in the background, or a restore. */
function changesIn(message: Message): number {
  if (message.kind === 'tool_call')
    return (message.call.durationMs === null ? 0 : 1) + (message.call.files?.length ?? 0)
  return 'code' in message && message.code === 'files_restored' ? 1 : 0
}
