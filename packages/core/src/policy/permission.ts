import type { Permission } from '@holdfast/protocol'

/** What a permission may know of a call. */
export type Target = {
  readonly tool: string
  /** The command or the path; null when the call has neither. */
  readonly target: string | null
}

/** A command in plain words: nothing a shell would read as anything but a name or an argument. */
const plainCommand = /^[\w@%+:,./= -]*$/

/**
 * What the rules say of a call: deny beats ask beats allow; null when none speaks. A shell can hide one command in
 * another, so an allowing pattern counts only for a command in plain words, and any other makes the rest a question.
 */
export function permitted(permissions: readonly Permission[], { tool, target }: Target): Permission['verdict'] | null {
  const ofTool = permissions.filter((rule) => rule.tool === tool || rule.tool === '*')
  const isPlain = tool !== 'shell' || (target !== null && plainCommand.test(target))
  const verdicts = ofTool.flatMap(({ pattern, verdict }) => {
    if (pattern === undefined) return [verdict]
    if (isPlain) return fits(pattern, target) ? [verdict] : []
    if (verdict === 'allow') return []
    return [fits(pattern, target) ? verdict : ('ask' as const)]
  })
  if (verdicts.includes('deny')) return 'deny'
  if (verdicts.includes('ask')) return 'ask'
  return verdicts.includes('allow') ? 'allow' : null
}

/** Whether a text fits a pattern in which `*` stands for any text. In one pass, whatever the pattern. */
export function fits(pattern: string, text: string | null): boolean {
  if (text === null) return false
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return text === pattern
  const last = rest.pop() ?? ''
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let from = first.length
  const end = text.length - last.length
  for (const piece of rest) {
    const at = text.indexOf(piece, from)
    if (at < 0 || at + piece.length > end) return false
    from = at + piece.length
  }
  return true
}
