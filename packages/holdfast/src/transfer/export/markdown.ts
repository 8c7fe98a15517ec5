import type { Message, Meta } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { formatCallStatus } from './call-line.ts'

/** Writes the head of a transcript as Markdown. */
export function head({ id, handle, title, model, workspace, createdAt }: Meta): string {
  return [
    `# ${escapeLine(title) || handle}`,
    '',
    `- Session: \`${id}\` (\`${handle}\`)`,
    `- Workspace: ${code(escapeLine(workspace))}`,
    `- Model: ${code(escapeLine(model))}`,
    `- Started: ${createdAt}`,
    '',
  ].join('\n')
}

export const tail = ''

/** Writes a message as Markdown; empty if it has no text. */
export function message(message: Message): string {
  switch (message.kind) {
    case 'user': {
      const files = message.parts.flatMap((part) =>
        part.type === 'file' ? [`- File: ${code(escapeLine(part.name ?? part.mediaType))}, ${part.bytes} bytes`] : [],
      )
      return createSection('You', message, [message.text, files.join('\n')])
    }
    case 'assistant':
      return createSection('Agent', message, [message.text, message.interrupted ? '*(interrupted)*' : ''])
    case 'thinking':
      return createSection('Agent, thinking', message, [quote(message.text)])
    case 'tool_call': {
      const { call } = message
      const result = call.result === null ? '' : fence('text', call.result.text)
      const what = [fence('json', JSON.stringify(call.args, null, 2)), `*${formatCallStatus(call)}*`, result]
      return createSection(`Tool ${code(escapeLine(call.tool))}`, message, what)
    }
    case 'system':
    case 'notice':
      return createSection(message.level === 'error' ? 'Error' : 'Note', message, [quote(message.text)])
    case 'usage':
      return message.fault ? createSection('Error', message, [quote(message.fault.message)]) : ''
  }
}

function createSection(head: string, { at }: Message, blocks: readonly string[]): string {
  const body = blocks.filter((block) => block !== '').map((block) => `${escapeText(block)}\n`)
  return ['', `## ${head} · ${at}`, '', ...body].join('\n')
}

/** Escapes control characters, because the file may be read in a terminal; keeps joiners, which many scripts need. */
const escapeText = (text: string): string =>
  text
    .split(/([\u200c\u200d])/u)
    .map((piece, index) => (index % 2 === 1 ? piece : escapeHidden(piece)))
    .join('')

const quote = (text: string): string =>
  text
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')

/** Uses a fence longer than any run of backticks inside. */
function fence(language: string, text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`
}

function code(text: string): string {
  const marks = '`'.repeat(longestRun(text) + 1)
  const space = /^`|`$/.test(text) ? ' ' : ''
  return `${marks}${space}${text}${space}${marks}`
}

const longestRun = (text: string): number => Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
