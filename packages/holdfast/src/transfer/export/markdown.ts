import type { Message, Meta } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { callFate } from './call-line.ts'

/** The head of a transcript as markdown. */
export function headMarkdown({ id, handle, title, model, workspace, createdAt }: Meta): string {
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

/** A message as markdown; empty where there is nothing to read. */
export function messageMarkdown(message: Message): string {
  switch (message.kind) {
    case 'user': {
      const files = message.parts.flatMap((part) =>
        part.type === 'file' ? [`- File: ${code(escapeLine(part.name ?? part.mediaType))}, ${part.bytes} bytes`] : [],
      )
      return section('You', message, [message.text, files.join('\n')])
    }
    case 'assistant':
      return section('Agent', message, [message.text, message.interrupted ? '*(interrupted)*' : ''])
    case 'thinking':
      return section('Agent, thinking', message, [quoted(message.text)])
    case 'tool_call': {
      const { call } = message
      const result = call.result === null ? '' : fenced('text', call.result.text)
      const what = [fenced('json', JSON.stringify(call.args, null, 2)), `*${callFate(call)}*`, result]
      return section(`Tool ${code(escapeLine(call.tool))}`, message, what)
    }
    case 'system':
    case 'notice':
      return section(message.level === 'error' ? 'Error' : 'Note', message, [quoted(message.text)])
    case 'usage':
      return message.fault ? section('Error', message, [quoted(message.fault.message)]) : ''
  }
}

function section(head: string, { at }: Message, blocks: readonly string[]): string {
  const body = blocks.filter((block) => block !== '').map((block) => `${shown(block)}\n`)
  return ['', `## ${head} · ${at}`, '', ...body].join('\n')
}

/** Escaped as for a terminal, which may be where the file is read, but for joiners: they are spelling in many scripts. */
const shown = (text: string): string =>
  text
    .split(/([\u200c\u200d])/u)
    .map((piece, index) => (index % 2 === 1 ? piece : escapeHidden(piece)))
    .join('')

const quoted = (text: string): string =>
  text
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')

/** A fence longer than any run of backticks inside, so that nothing inside can end it. */
function fenced(language: string, text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`
}

function code(text: string): string {
  const marks = '`'.repeat(longestRun(text) + 1)
  const space = /^`|`$/.test(text) ? ' ' : ''
  return `${marks}${space}${text}${space}${marks}`
}

const longestRun = (text: string): number => Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
