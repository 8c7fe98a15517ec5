import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/** What is wrong with something from outside, in one line: where, and why. */
export function explainIssue(error: z.ZodError): string {
  const [issue] = error.issues
  if (!issue) return 'it cannot be read'
  const { field, message } = locateIssue(issue)
  return field === '' ? message : `${field}: ${message}`
}

/** The field at fault and why. Where one of several forms fits further down than the others, it is the one that was meant. */
export function locateIssue(issue: Issue): { readonly field: string; readonly message: string } {
  const inner = issue.code === 'invalid_union' ? issue.errors.flat().find(({ path }) => path.length > 0) : undefined
  if (inner) return locateIssue({ ...inner, path: [...issue.path, ...inner.path] })
  return { field: issue.path.join('.'), message: issue.message }
}

/** What a field is for, to whoever left it out or sent something else. */
export const expecting = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) => (input === undefined ? `missing; give ${what}` : `give ${what}`),
})
