import type { z } from 'zod'
import { escapeLine } from './hostile-text.ts'
import { nearest } from './nearest.ts'

type Issue = z.core.$ZodIssue

/** Returns the first problem of an input in one line: `field: message`. `known` are the options that it may have. */
export function explainIssue(error: z.ZodError, known: readonly string[] = []): string {
  const [issue] = error.issues
  if (!issue) return 'invalid input'
  const [unknown] = issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : []
  if (unknown !== undefined && known.length > 0) return explainUnknown(unknown, known)
  const { field, message } = locateIssue(issue)
  return field === '' ? message : `${field}: ${message}`
}

function explainUnknown(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  const hint = meant === null ? `; the options are ${known.join(', ')}` : ` (did you mean '${meant}'?)`
  return `there is no option "${escapeLine(name.slice(0, 100).toWellFormed())}"${hint}`
}

/** Returns the field and message of an issue. In a union, the variant that matched deepest is the one that was meant. */
export function locateIssue(issue: Issue): { readonly field: string; readonly message: string } {
  const inner = issue.code === 'invalid_union' ? issue.errors.flat().find(({ path }) => path.length > 0) : undefined
  if (inner) return locateIssue({ ...inner, path: [...issue.path, ...inner.path] })
  return { field: shorten(issue.path.join('.')), message: shorten(plainly(issue)) }
}

/** Says in plain words how long or large a value may be, where a field has no sentence of its own. */
function plainly(issue: Issue): string {
  const isTooSmall = issue.code === 'too_small'
  if (!(isTooSmall || issue.code === 'too_big') || !/^Too (?:small|big)/.test(issue.message)) return issue.message
  const limit = isTooSmall ? issue.minimum : issue.maximum
  const bound = `${isTooSmall ? 'at least' : 'at most'} ${limit}`
  const isSized = Object.hasOwn(units, issue.origin)
  if (isSized && isTooSmall && limit === 1) return 'must not be empty'
  if (isSized) return `must have ${bound} ${units[issue.origin]}`
  return issue.inclusive === false ? `must be ${isTooSmall ? 'more' : 'less'} than ${limit}` : `must be ${bound}`
}

const units: Readonly<Record<string, string>> = { string: 'characters', array: 'entries', set: 'entries' }

const issueCharsMax = 300

/** Keeps an answer short whose request has many unknown keys or a long one. */
const shorten = (text: string): string =>
  text.length <= issueCharsMax ? text : `${text.slice(0, issueCharsMax).toWellFormed()}…`

/** Returns error options that name the expected value of a field. */
export const expecting = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) => (input === undefined ? `missing; give ${what}` : `give ${what}`),
})
