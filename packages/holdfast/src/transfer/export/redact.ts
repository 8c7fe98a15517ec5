import { homedir } from 'node:os'

const createPlaceholder = (what: string): string => `[${what} removed]`

/**
 * What redaction removes and the replacements. The longest forms come first. Repetitions are bounded, so that the time is
 * linear in the length of the text.
 */
export const redactions: readonly {
  readonly what: string
  readonly pattern: RegExp
  /** Returns the replacement of a match, given its first group. */
  readonly keep: (match: string, first: string) => string
}[] = [
  {
    what: 'a private key',
    pattern: /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g,
    keep: () => createPlaceholder('private key'),
  },
  {
    what: 'a JSON web token',
    pattern: /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
    keep: () => createPlaceholder('token'),
  },
  {
    what: 'a key with a known beginning',
    pattern:
      /\b(?:sk|pk|rk)[-_][\w-]{16,}|\b(?:gh[pousr]|glpat|xox[abeoprs]|npm|hf|dop_v1|shpat|pypi|gsk|xai|rt)[-_][\w-]{16,}|\bgithub_pat_\w{20,}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}/g,
    keep: () => createPlaceholder('key'),
  },
  {
    what: 'a token of an Authorization header',
    pattern: /\b((?:bearer|basic|token)\s+)[\w.~+/=-]{12,}/gi,
    keep: (_, before) => `${before}${createPlaceholder('token')}`,
  },
  {
    what: 'a password in an address',
    pattern: /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s:@/]{0,200}:)[^\s@/]{1,200}(?=@)/gi,
    keep: (_, before) => `${before}${createPlaceholder('password')}`,
  },
  {
    what: 'a value that is given a secret name',
    pattern:
      /((?:[\w-]{0,40}(?:api[_-]?key|secret|passw(?:or)?d|passphrase|access[_-]?key|auth[_-]?token|token|credential)[\w-]{0,40})["']?\s*[=:]\s*["']?)(?!\[)[^\s"',;&<>(){}]{6,}/gi,
    keep: (_, before) => `${before}${createPlaceholder('secret')}`,
  },
  {
    what: 'an e-mail address',
    pattern: /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu,
    keep: () => createPlaceholder('e-mail address'),
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

/** A shorter home path would match unrelated text. */
const homeCharsMin = 4
const ownHome = homedir()

/** Removes what looks like a secret or an e-mail address, and the user's home directory. */
export const redactText = (text: string, home: string = ownHome): string =>
  redactions.reduce((sum, { pattern, keep }) => sum.replace(pattern, keep), replaceHome(text, home))

function replaceHome(text: string, home: string): string {
  if (home.length < homeCharsMin || !text.includes(home)) return text
  return text.replaceAll(new RegExp(`(?<![\\w.~-])${RegExp.escape(home)}(?![\\w.-])`, 'g'), '[home]')
}

const secretName =
  /(api[_-]?key|secret|passw(or)?d|passphrase|access[_-]?key|auth[_-]?token|^token$|credential|authorization)/i

/** Redacts every text in a value; a text under a secret name is removed completely. */
export function redactValue<Value>(value: Value): Value
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (Array.isArray(value)) return value.map((item) => redactValue(item))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      redactText(name),
      typeof inner === 'string' && inner !== '' && secretName.test(name)
        ? createPlaceholder('secret')
        : redactValue(inner),
    ]),
  )
}
