import { clip, escapeLine, type Message } from '@holdfast/protocol'
import { callSummary } from './call-summary.ts'
import { oneLine } from './one-line.ts'

const charsMax = 160

/** Returns a message as one line. */
export function messageText(message: Message): string {
  switch (message.kind) {
    case 'tool_call':
      return `${escapeLine(message.call.tool)} ${callSummary(message.call)}`
    case 'usage':
      return 'The end of an answer'
    case 'notice':
      return message.code === 'compacted' ? 'A checkpoint' : oneLine(clip(message.text, charsMax))
    default:
      return oneLine(clip(message.text, charsMax)) || 'A file'
  }
}
