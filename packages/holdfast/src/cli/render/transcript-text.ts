import type { Message, Meta } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { formatCall, formatCallStatus } from '../../transfer/export/call-line.ts'
import type { Paint } from '../terminal/output.ts'
import { diffText } from './diff-text.ts'
import { formatTime } from './local-time.ts'
import { counted } from './tables.ts'

/** Formats the head of a transcript for a terminal. */
export function headText(meta: Meta, paint: Paint): string {
  const { id, handle, title, model, status, workspace, messageCount, parent, subagent } = meta
  const about = [
    id,
    ...(subagent && parent ? [`subagent (${escapeLine(subagent.agent)}) of ${parent}`] : []),
    escapeLine(model),
    status,
    counted(messageCount, 'message'),
    escapeLine(workspace) || 'no folder',
  ].join(' · ')
  return `${paint.bold(handle)}  ${escapeLine(title)}\n${paint.dim(about)}\n`
}

/** Formats a message for a terminal; returns '' if there is nothing to read. */
export function messageText(message: Message, paint: Paint, isUtc = false): string {
  const at = paint.dim(formatTime(message.at, isUtc))
  const block = (who: string, text: string) => `\n${paint.bold(who)}  ${at}\n${indented(escapeHidden(text))}`
  switch (message.kind) {
    case 'user':
      return block(message.child ? `subagent ${message.child.agent}` : 'you', message.text || partsOf(message))
    case 'assistant':
      return block(cut('agent', message), message.text)
    case 'thinking':
      return block(cut('agent thinks', message), message.text)
    case 'tool_call': {
      const { call } = message
      const result = call.result === null ? '' : call.result.text
      const asks = call.approval === null ? '' : `, asks for approval ${call.approval.id}`
      const child = call.child
        ? `\nsubagent ${call.child.session} (${call.child.agent}): ${call.child.outcome ?? 'not done'}`
        : ''
      const diff = call.preview?.type === 'diff' ? indented(diffText(call.preview.diff, paint)) : ''
      return `${block(`tool ${formatCall(call.tool, call.args)}`, `${formatCallStatus(call)}${asks}${child}\n${result}`)}${diff}`
    }
    case 'system':
    case 'notice':
      return block(message.level === 'error' ? paint.red(message.kind) : message.kind, message.text)
    case 'usage':
      return message.fault ? block(paint.red('failed'), message.fault.message) : ''
  }
}

/** Names the files of a message without text. */
const partsOf = ({ parts }: Extract<Message, { readonly kind: 'user' }>): string =>
  parts.map((part) => (part.type === 'file' ? `[${part.name ?? part.mediaType}, ${part.bytes} bytes]` : '')).join(' ')

const cut = (who: string, { interrupted }: { readonly interrupted?: true | undefined }): string =>
  interrupted ? `${who} (interrupted)` : who

const indented = (text: string): string =>
  text
    .replace(/\n+$/, '')
    .split('\n')
    .map((line) => (line === '' ? '\n' : `  ${line}\n`))
    .join('')
