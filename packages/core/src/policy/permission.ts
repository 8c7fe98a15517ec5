import type { Permission } from '@holdfast/protocol'

/** What a permission rule can see of a call. */
export type Target = {
  readonly tool: string
  /** The command or the path; null when the call has neither. */
  readonly target: string | null
}

/** A plain command: only characters that a shell takes for names and arguments. */
const plainCommand = /^[\w@%+:,./= -]*$/

/**
 * Returns the verdict of the rules: deny beats ask beats allow; null when none applies. A shell command can hide
 * another one, so an allow pattern applies only to plain commands, and any other pattern turns the rest into a
 * question.
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

/** Whether a text matches a pattern in which `*` matches any text. Runs in one pass. */
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
