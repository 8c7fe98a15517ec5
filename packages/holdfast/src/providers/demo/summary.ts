import type { ModelRequest } from '@holdfast/core/ports'
import { clip, firstLine } from '@holdfast/protocol'
import type { DemoAnswer } from './answer.ts'

/** Writes a summary, title or note: counts, with the first and last request quoted. */
export function buildSummary({ messages }: ModelRequest): DemoAnswer {
  const text = messages
    .flatMap(({ role, content }) => (role === 'user' ? content : []))
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
  const { conversation, task } = splitTask(text)
  const writeNoteOrSummary = task.includes('## Decisions') ? writeNote : writeSummary
  const write = task.includes('Give the conversation above a title') ? writeTitle : writeNoteOrSummary
  const thinking = 'I am asked for a summary. I count the messages.'
  return { thinking, text: write(countConversation(conversation)), count: null, calls: [], failure: null }
}

type ConversationCounts = ReturnType<typeof countConversation>

/** Splits off the task after the conversation. Text inside the conversation is no instruction. */
function splitTask(text: string): { readonly conversation: string; readonly task: string } {
  const end = '\n</conversation>'
  const at = text.lastIndexOf(end)
  if (at < 0) return { conversation: text, task: text }
  return { conversation: text.slice(0, at).replace(/^<conversation>\n/, ''), task: text.slice(at + end.length) }
}

function countConversation(conversation: string) {
  const calls = new Map<string, number>()
  const requests: string[] = []
  let messages = 0
  for (const [, who = '', tool = '', line = ''] of conversation.matchAll(/^\[(user|assistant|tool (\S+))\] (.*)$/gm)) {
    messages++
    if (who === 'user') requests.push(clip(line, 200))
    else if (tool !== '') calls.set(tool, (calls.get(tool) ?? 0) + 1)
  }
  const before =
    /^\[summary of earlier parts\] ([\s\S]*?)(?:\n\n\[(?:user|assistant|tool )|$)/.exec(conversation)?.[1] ?? null
  return { before, messages, requests, calls }
}

function writeSummary({ before, messages, requests, calls }: ConversationCounts): string {
  const earlier = before === null ? [] : [clip(before, 2_000)]
  return [...earlier, `${intro} ${describeCounts(messages, calls)} ${quoteRequests(requests)}`.trimEnd()].join('\n\n')
}

const writeTitle = ({ requests }: ConversationCounts): string =>
  `Demo: ${firstLine(requests[0] ?? 'a conversation', 60)}`

function writeNote({ messages, requests, calls }: ConversationCounts): string {
  const used = [...calls].map(([tool, times]) => `- used ${tool} ${times === 1 ? 'once' : `${times} times`}`)
  return [
    `# Demo note on ${firstLine(requests[0] ?? 'a conversation', 40)}`,
    '',
    `${intro} ${describeCounts(messages, calls)} ${quoteRequests(requests)}`.trimEnd(),
    '',
    '## Decisions',
    '- none found by the demo',
    '',
    '## Changes',
    ...(used.length === 0 ? ['- none'] : used),
    '',
    '## Open questions',
    '- none found by the demo',
  ].join('\n')
}

const intro = 'This summary is by the demo, which only counts.'

function describeCounts(messages: number, calls: ReadonlyMap<string, number>): string {
  const times = [...calls.values()].reduce((sum, one) => sum + one, 0)
  return `Messages: ${messages}. Tool calls: ${times}.`
}

function quoteRequests(requests: readonly string[]): string {
  const [first] = requests
  const last = requests.at(-1)
  if (first === undefined || last === undefined) return ''
  return requests.length === 1 ? `The request was: ${first}` : `The first request was: ${first}\nThe last was: ${last}`
}
