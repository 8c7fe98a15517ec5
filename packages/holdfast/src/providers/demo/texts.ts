import type { AssistantPart, ToolResultPart } from '@holdfast/core/ports'
import { clip } from '@holdfast/protocol'
import type { DemoLine } from './line.ts'

const shownCharsMax = 2_000
const shownLinesMax = 40

export const abilities = `I am the demo: a scripted agent, not a language model. I understand these requests, one a line:

- \`list [dir]\`, \`read <file>\`, \`search <text>\`, \`find <glob>\`
- \`write <file>: <text>\`, \`edit <file>: <old> => <new>\`, \`run <command>\`, \`remember <text>\` (these ask you first)
- \`count to <n>\`, \`plan <request>\`, \`delegate <request>\`
- \`fail <rejected_key|rate_limited|auth_failed|unreachable|raw_dump|cut>\`

For a real model, set ANTHROPIC_API_KEY and choose one.`

export const explainUnknown = (lines: readonly string[]): string =>
  `I do not understand ${lines.map((line) => `"${line}"`).join(' or ')}.\n\n${abilities}`

/** The two halves of the answer to `fail cut`. The second is sent after `continue`. */
export const cutBeginning = 'This answer is about to be cut'
export const cutEnd = '… and this is the rest of it.'

export const resuming = 'I was interrupted. I continue where I stopped.'
export const nothingLeft = 'That was all. There is nothing left to say.'

/** Reports the result of one call, quoting the tool. */
export function reportResult(call: Extract<AssistantPart, { type: 'call' }> | null, result: ToolResultPart): string {
  const about = call === null ? '' : subjectOf(call.args)
  const what = about === '' ? result.tool : `${result.tool} (${about})`
  if (result.isError) return `${what} failed:\n\n${quoted(result.text)}`
  return result.text.trim() === '' ? `${what} returned nothing.` : `${what} returned:\n\n${quoted(result.text)}`
}

function subjectOf(args: { readonly [key: string]: unknown }): string {
  const subject = args['path'] ?? args['command'] ?? args['pattern'] ?? args['task'] ?? args['text']
  return typeof subject === 'string' ? clip(subject, 80) : ''
}

function quoted(text: string): string {
  const lines = clip(text.trimEnd(), shownCharsMax).split('\n')
  const shown = lines.slice(0, shownLinesMax).join('\n')
  const fence = '`'.repeat(Math.max(3, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)))
  const isCut = lines.length > shownLinesMax || text.trimEnd().length > shownCharsMax
  return `${fence}\n${shown}\n${fence}${isCut ? '\n\n(Only the beginning is shown.)' : ''}`
}

/** Writes a plan for a request: the steps and the approvals. */
export function writePlan(request: string, line: DemoLine): string {
  const steps = [`Understand the request: ${clip(request, 200)}`, ...stepsFor(line), 'Report the result.']
  return `My plan:\n\n${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}`
}

function stepsFor(line: DemoLine): readonly string[] {
  if (line.type === 'call') {
    const subject = subjectOf(line.args)
    const use = `Use ${line.tool}${subject === '' ? '' : ` on ${subject}`}.`
    return ['write', 'edit', 'run', 'remember'].includes(line.verb) ? ['Ask you for approval.', use] : [use]
  }
  if (line.type === 'count') return [`Count to ${line.to}.`]
  return ['Look at the files it concerns.', 'Make the smallest change that does it.', 'Check the result.']
}
