import { type CallView, clip, escapeLine } from '@holdfast/protocol'

const telling = ['command', 'path', 'file', 'pattern', 'query', 'url', 'task', 'name']
const summaryCharsMax = 160

/** Summarizes a call in one line: its most telling argument, else the first text. */
export function callSummary({ args }: Pick<CallView, 'args'>): string {
  const named = telling.map((name) => args[name])
  const found = [...named, ...Object.values(args)].find((value) => typeof value === 'string' && value !== '')
  return typeof found === 'string' ? escapeLine(clip(found, summaryCharsMax)) : ''
}
