import type { CallFile, Message, Meta } from '@holdfast/protocol'
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

/**
 * Formats a message for a terminal; returns '' if there is nothing to read. `wrap` is for what people and the model say: calls,
 * their results and code stay as they are.
 */
export function messageText(message: Message, paint: Paint, isUtc = false, wrap: Wrap = (text) => text): string {
  // Commands such as `rewind`, `fork` and `tell` take these numbers. A call has the number of its message.
  const number = `${message.kind === 'tool_call' ? 'call' : 'message'} ${message.id}`
  const at = paint.dim(`${formatTime(message.at, isUtc)} · turn ${message.turn} · ${number}`)
  const block = (who: string, text: string) =>
    `\n${wrap(`${paint.bold(who)}  ${at}`)}\n${wrapProse(indented(escapeHidden(text)), wrap)}`
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
      const outside = outsideText('<session>', call.id, call.files)
      const text = `${formatCallStatus(call)}${asks}${child}\n${result}${outside === null ? '' : `\n${outside}`}`
      return `\n${paint.bold(`tool ${formatCall(call.tool, call.args)}`)}  ${at}\n${indented(escapeHidden(text))}${diff}`
    }
    case 'system':
    case 'notice':
      return block(message.level === 'error' ? paint.red(message.kind) : message.kind, message.text)
    case 'usage':
      return message.fault ? block(paint.red('failed'), message.fault.message) : ''
  }
}

type Wrap = (text: string) => string

/** Wraps the lines of a text that are not in a block of code. */
function wrapProse(text: string, wrap: Wrap): string {
  let isCode = false
  const wrapped = text.split('\n').map((line) => {
    const isFence = /^ *(?:```|~~~)/.test(line)
    if (isFence) isCode = !isCode
    return isFence || isCode ? line : wrap(line)
  })
  return wrapped.join('\n')
}

/** Says that a call changed lines that it may not, that they stay changed, and how to put them back. Null if it did not. */
export function outsideText(session: string, call: number, files: readonly CallFile[] = []): string | null {
  const paths = files.filter(({ outside }) => outside).map(({ path }) => escapeLine(path))
  if (paths.length === 0) return null
  const what = paths.length === 1 ? 'The change is' : 'The changes are'
  return `${what} in ${paths.join(', ')}. To put back what the call changed: holdfast tell ${session} restoreFiles call=${call}`
}

/** Names the files of a message without text. */
const partsOf = ({ parts }: Extract<Message, { readonly kind: 'user' }>): string =>
  parts.map((part) => (part.type === 'file' ? `[${part.name ?? part.mediaType}, ${part.bytes} bytes]` : '')).join(' ')

const cut = (who: string, { interrupted }: { readonly interrupted?: true | undefined }): string =>
  interrupted ? `${who} (interrupted)` : who

const indented = (text: string): string =>
  text
    .replace(/(?<!\n)\n+$/, '')
    .split('\n')
    .map((line) => (line === '' ? '\n' : `  ${line}\n`))
    .join('')
