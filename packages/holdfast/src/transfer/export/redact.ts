import { homedir } from 'node:os'

const gone = (what: string): string => `[${what} removed]`

/**
 * What is taken out of a text on request, and what stands there instead. The order counts: the longest forms first. Runs
 * are bounded, so that no text takes longer than its length.
 */
export const redactions: readonly {
  readonly what: string
  readonly pattern: RegExp
  /** What stays of a match, with its first group. */
  readonly keep: (match: string, first: string) => string
}[] = [
  {
    what: 'a private key',
    pattern: /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g,
    keep: () => gone('private key'),
  },
  {
    what: 'a JSON web token',
    pattern: /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
    keep: () => gone('token'),
  },
  {
    what: 'a key with a known beginning',
    pattern:
      /\b(?:sk|pk|rk)[-_][\w-]{16,}|\b(?:gh[pousr]|glpat|xox[abeoprs]|npm|hf|dop_v1|shpat|pypi|gsk|xai|rt)[-_][\w-]{16,}|\bgithub_pat_\w{20,}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}/g,
    keep: () => gone('key'),
  },
  {
    what: 'a token of an Authorization header',
    pattern: /\b((?:bearer|basic|token)\s+)[\w.~+/=-]{12,}/gi,
    keep: (_, before) => `${before}${gone('token')}`,
  },
  {
    what: 'a password in an address',
    pattern: /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s:@/]{0,200}:)[^\s@/]{1,200}(?=@)/gi,
    keep: (_, before) => `${before}${gone('password')}`,
  },
  {
    what: 'a value that is given a secret name',
    pattern:
      /((?:[\w-]{0,40}(?:api[_-]?key|secret|passw(?:or)?d|passphrase|access[_-]?key|auth[_-]?token|token|credential)[\w-]{0,40})["']?\s*[=:]\s*["']?)(?!\[)[^\s"',;&<>(){}]{6,}/gi,
    keep: (_, before) => `${before}${gone('secret')}`,
  },
  {
    what: 'an e-mail address',
    pattern: /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu,
    keep: () => gone('e-mail address'),
  },
  {
    what: 'the name in a home directory',
    pattern: /((?:\/home|\/Users|[A-Za-z]:(?:\\{1,2}|\/)Users|\/c\/Users)(?:\\{1,2}|\/))(?!\[)[^\s/\\:"'`<>|]+/g,
    keep: (_, before) => `${before}[name]`,
  },
  {
    what: 'the home directory of root',
    pattern: /(?:(?<![\w.~/\\[\]-])|(?<=file:\/\/))(?:\/var)?\/root(?![\w.-])/g,
    keep: () => '[home]',
  },
]

/** Too short a path stands in too many texts that mean something else. */
const homeCharsMin = 4
const ownHome = homedir()

/** A text without what looks like a secret, a person's address, or the home directory of whoever writes it out. */
export const redactText = (text: string, home: string = ownHome): string =>
  redactions.reduce((sum, { pattern, keep }) => sum.replace(pattern, keep), withoutHome(text, home))

function withoutHome(text: string, home: string): string {
  if (home.length < homeCharsMin || !text.includes(home)) return text
  return text.replaceAll(new RegExp(`(?<![\\w.~-])${RegExp.escape(home)}(?![\\w.-])`, 'g'), '[home]')
}

const secretName =
  /(api[_-]?key|secret|passw(or)?d|passphrase|access[_-]?key|auth[_-]?token|^token$|credential|authorization)/i

/** The same for every text within a value; a text under a secret name is taken out whole, whatever it looks like. */
export function redactValue<Value>(value: Value): Value
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (Array.isArray(value)) return value.map((one) => redactValue(one))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      redactText(name),
      typeof inner === 'string' && inner !== '' && secretName.test(name) ? gone('secret') : redactValue(inner),
    ]),
  )
}
