import type { ModelRequest } from '@holdfast/core/ports'
import { clip, firstLine } from '@holdfast/protocol'
import type { DemoAnswer } from './answer.ts'

const quotedCharsMax = 200
const earlierCharsMax = 2_000
const titledCharsMax = 60

/** What the demo writes when a summary is asked for: how much was said, and the first and last request, word for word. It calls no tool. */
export function summaryTo({ messages }: ModelRequest): DemoAnswer {
  const text = messages
    .flatMap(({ role, content }) => (role === 'user' ? content : []))
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
  const { conversation, task } = splitTask(text)
  const said = readSaid(conversation)
  return {
    thinking: 'A summary is asked for. I count what was said.',
    text: task.includes('Give the conversation above a title')
      ? titleOf(said)
      : task.includes('## Decisions')
        ? noteOn(said)
        : plainSummary(said),
    count: null,
    calls: [],
    failure: null,
  }
}

type Said = {
  readonly before: string | null
  readonly messages: number
  readonly requests: readonly string[]
  readonly calls: ReadonlyMap<string, number>
}

/** What stands after the conversation is what is asked for. What is quoted in it is nobody's order. */
function splitTask(text: string): { readonly conversation: string; readonly task: string } {
  const end = '\n</conversation>'
  const at = text.lastIndexOf(end)
  if (at < 0) return { conversation: text, task: text }
  return { conversation: text.slice(0, at).replace(/^<conversation>\n/, ''), task: text.slice(at + end.length) }
}

function readSaid(conversation: string): Said {
  const calls = new Map<string, number>()
  const requests: string[] = []
  let messages = 0
  for (const [, who = '', tool = '', line = ''] of conversation.matchAll(/^\[(user|assistant|tool (\S+))\] (.*)$/gm)) {
    messages++
    if (who === 'user') requests.push(clip(line, quotedCharsMax))
    else if (tool !== '') calls.set(tool, (calls.get(tool) ?? 0) + 1)
  }
  const before =
    /^\[summary of earlier parts\] ([\s\S]*?)(?:\n\n\[(?:user|assistant|tool )|$)/.exec(conversation)?.[1] ?? null
  return { before, messages, requests, calls }
}

function plainSummary({ before, messages, requests, calls }: Said): string {
  const earlier = before === null ? [] : [clip(before, earlierCharsMax)]
  return [...earlier, `${whoIsWriting} ${counted(messages, calls)} ${asked(requests)}`.trimEnd()].join('\n\n')
}

const titleOf = ({ requests }: Said): string => `Demo: ${firstLine(requests[0] ?? 'a conversation', titledCharsMax)}`

function noteOn({ messages, requests, calls }: Said): string {
  const used = [...calls].map(([tool, times]) => `- used ${tool} ${times === 1 ? 'once' : `${times} times`}`)
  const title = firstLine(requests[0] ?? 'a conversation', 40)
  return [
    `# Demo note on ${title}`,
    '',
    `${whoIsWriting} ${counted(messages, calls)} ${asked(requests)}`.trimEnd(),
    '',
    '## Decisions',
    '- none that the demo could tell',
    '',
    '## Changes',
    ...(used.length === 0 ? ['- none'] : used),
    '',
    '## Open questions',
    '- none that the demo could tell',
  ].join('\n')
}

const whoIsWriting = 'This summary is by the demo, which counts and does not understand.'

function counted(messages: number, calls: ReadonlyMap<string, number>): string {
  const times = [...calls.values()].reduce((sum, one) => sum + one, 0)
  return `${messages} messages were exchanged, ${times} of them tool calls.`
}

function asked(requests: readonly string[]): string {
  const [first] = requests
  const last = requests.at(-1)
  if (first === undefined || last === undefined) return ''
  return requests.length === 1 ? `The request was: ${first}` : `The first request was: ${first}\nThe last was: ${last}`
}
