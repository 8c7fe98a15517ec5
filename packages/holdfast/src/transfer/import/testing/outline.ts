import type { ModelRequest } from '@holdfast/core/ports'
import { clip, type Message, type Meta } from '@holdfast/protocol'
import type { ImportedFile } from '../import-paths.ts'

const short = (text: string): string => JSON.stringify(clip(text, 60))

/** Returns a short, readable summary of an import: the row, the transcript, the model request and the remarks. */
export function outline(
  file: ImportedFile,
  { title, workspace, model, createdAt, lastMessageAt, key, usage }: Meta,
  messages: readonly Message[],
  { messages: messagesSent }: ModelRequest,
  branches: readonly { readonly name: string; readonly messages: number }[],
): string {
  return [
    `${file.format} ${file.status} ${key}`,
    `title ${short(title)}`,
    `workspace ${workspace}`,
    `model ${model}`,
    `created ${createdAt}, spoken ${lastMessageAt}`,
    `usage ${JSON.stringify(usage)}`,
    ...branches.map(({ name, messages: kept }) => `branch ${name} of ${kept} messages`),
    '',
    ...messages.map(messageLine),
    '',
    'told:',
    ...messagesSent.flatMap(({ role, content }) => content.map((part) => `  ${role} ${toldLine(part)}`)),
    '',
    'changed:',
    ...file.remarks.map(({ line, code, what }) => `  ${line ?? '-'} ${code}: ${what}`),
    '',
  ].join('\n')
}

function messageLine(message: Message): string {
  const head = `${message.at} ${message.turn} ${message.kind}${message.pinned ? ' pinned' : ''}`
  switch (message.kind) {
    case 'user': {
      const files = message.parts.flatMap((part) => (part.type === 'file' ? [`${part.mediaType} ${part.bytes}`] : []))
      return [head, short(message.text), ...files].join(' ')
    }
    case 'tool_call': {
      const { tool, args, status, result } = message.call
      return `${head} ${tool} ${short(JSON.stringify(args))} ${status} ${short(result?.text ?? '')}`
    }
    case 'usage':
      return `${head} ${JSON.stringify(message.usage)}`
    default:
      return `${head} ${short(message.text)}`
  }
}

function toldLine(part: ModelRequest['messages'][number]['content'][number]): string {
  if (!('type' in part)) return `result ${part.tool} ${part.isError ? 'error ' : ''}${short(part.text)}`
  if (part.type === 'call') return `call ${part.tool}`
  return part.type === 'file' ? `file ${part.mediaType}` : `${part.type} ${short(part.text)}`
}
