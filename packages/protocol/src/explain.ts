import type { z } from 'zod'

/** What is wrong with something from outside, in one line: where, and why. */
export function explainIssue(error: z.ZodError): string {
  const [issue] = error.issues
  if (!issue) return 'it cannot be read'
  const where = issue.path.join('.')
  return where === '' ? issue.message : `${where}: ${issue.message}`
}
