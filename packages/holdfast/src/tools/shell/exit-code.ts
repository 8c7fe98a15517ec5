/** Programs that answer "no" with exit code 1. Their errors have other codes. */
const answering = new Set(['grep', 'egrep', 'fgrep', 'rg', 'diff', 'cmp', 'test', '[', '[['])

/** A quoted text, or a character after a backslash. */
const quoted = /'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]/g

/**
 * Returns whether this exit code of a command is an answer and not a failure: code 1 of `grep`, which found nothing, of
 * `diff` and of `test`. The last program of a command line decides; one that is not clearly one of these is not.
 */
export function isAnswer(command: string, code: number): boolean {
  if (code === 0) return true
  if (code !== 1) return false
  const last =
    command
      .replaceAll(quoted, 'Q')
      .trim()
      .split(/[|;&\n(){}]+/)
      .at(-1) ?? ''
  const [program = ''] = last.trim().split(/\s+/)
  return answering.has(program) || /^git\s+(?:grep|diff)\s/.test(`${last.trim()} `)
}
