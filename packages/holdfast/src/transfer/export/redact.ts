import { homedir } from 'node:os'
import { aheadChars, replaceInWindows, type WindowRule } from './replace-in-windows.ts'

const createPlaceholder = (what: string): string => `[${what} removed]`

type Redaction = { readonly what: string; readonly redact: (text: string) => string }

/** `keep` returns the replacement of a match, given its first group. `tail` has the characters that may follow at its end. */
const replacing =
  (pattern: RegExp, keep: WindowRule['replace'], tail?: RegExp): Redaction['redact'] =>
  (text) =>
    replaceInWindows(text, { pattern, replace: keep, tail })

/**
 * What redaction removes and the replacements. The longest forms come first. The time of each is linear in the length of
 * the text: a repetition either is bounded, or cannot begin inside a run that it already tried.
 */
export const redactions: readonly Redaction[] = [
  {
    what: 'a private key',
    redact: redactPrivateKeys,
  },
  {
    what: 'a JSON web token',
    redact: (text) =>
      replaceInWindows(text, {
        pattern: /[\w.-]{20,}/g,
        replace: (run) => redactTokens(run),
        tail: /[\w.-]/,
        cutAt: cutBeforeToken,
      }),
  },
  {
    what: 'a key with a known beginning',
    redact: replacing(
      /\b(?:sk|pk|rk)[-_][\w-]{16,}|\b(?:gh[pousr]|glpat|xox[abeoprs]|npm|hf|holdfast|dop_v1|shpat|pypi|gsk|xai|rt)[-_][\w-]{16,}|\bgithub_pat_\w{20,}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}/g,
      () => createPlaceholder('key'),
      /[\w-]/,
    ),
  },
  {
    what: 'a token of an Authorization header',
    redact: replacing(
      /\b((?:bearer|basic|token)\s{1,200})[\w.~+/=-]{12,}/gi,
      (_, before) => `${before}${createPlaceholder('token')}`,
      /[\w.~+/=-]/,
    ),
  },
  {
    what: 'a password in an address',
    redact: replacing(
      /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s:@/]{0,200}:)[^\s@/]{1,200}(?=@)/gi,
      (_, before) => `${before}${createPlaceholder('password')}`,
    ),
  },
  {
    what: 'a value that is given a secret name',
    // What comes before the name stays as it is, so it is not matched.
    redact: replacing(
      /((?:api[_-]?key|secret|passw(?:or)?d|passphrase|access[_-]?key|auth[_-]?token|token|credential)[\w-]{0,40}["']?\s{0,200}[=:]\s{0,200}["']?)(?!\[)[^\s"',;&<>(){}]{6,}/gi,
      (_, before) => `${before}${createPlaceholder('secret')}`,
      /[^\s"',;&<>(){}]/,
    ),
  },
  {
    what: 'an e-mail address',
    redact: redactAddresses,
  },
  {
    what: 'the name in a home directory',
    redact: replacing(
      /((?:\/home|\/Users|[A-Za-z]:(?:\\{1,2}|\/)Users|\/c\/Users)(?:\\{1,2}|\/))(?!\[)[^\s/\\:"'`<>|]+/g,
      (_, before) => `${before}[name]`,
      /[^\s/\\:"'`<>|]/,
    ),
  },
  {
    what: 'the home directory of root',
    redact: replacing(/(?:(?<![\w.~/\\[\]-])|(?<=file:\/\/))(?:\/var)?\/root(?![\w.-])/g, () => '[home]'),
  },
]

const tokenHeadCharsMin = 'eyJ'.length + 8
const tokenBodyCharsMin = 8

/** Removes the tokens in a run of their characters: a part from `eyJ` on, and the two parts after it. */
function redactTokens(run: string): string {
  const parts = run.split('.')
  const kept: string[] = []
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? ''
    const start = part.search(/\beyJ/)
    const isToken =
      start !== -1 && part.length - start >= tokenHeadCharsMin && (parts[index + 1] ?? '').length >= tokenBodyCharsMin
    kept.push(isToken ? part.slice(0, start) + createPlaceholder('token') : part)
    if (isToken) index += 2
  }
  return kept.join('.')
}

/** Leaves a token that begins at the end of what is seen to the next window. */
function cutBeforeToken(run: string): number {
  const begin = run.indexOf('eyJ', run.length - aheadChars)
  return begin === -1 ? run.length : begin
}

/** Finds the @ first, and then looks at what is around it: a pattern that begins with the name would try every letter. */
const address = /@(?<=([\p{L}\p{N}._%+-]{1,64})@)[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu

function redactAddresses(text: string): string {
  const replace = () => createPlaceholder('e-mail address')
  return replaceInWindows(text, { pattern: address, replace, before: (name) => name.length })
}

const privateKeyBegin = /-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY)-----/g

/** Removes private keys up to their end, or all of the text if one has none. They may be longer than any window. */
function redactPrivateKeys(text: string): string {
  const kept: string[] = []
  let done = 0
  privateKeyBegin.lastIndex = 0
  for (let match = privateKeyBegin.exec(text); match !== null; match = privateKeyBegin.exec(text)) {
    kept.push(text.slice(done, match.index), createPlaceholder('private key'))
    const mark = `-----END ${match[1]}-----`
    const end = text.indexOf(mark, privateKeyBegin.lastIndex)
    done = end === -1 ? text.length : end + mark.length
    privateKeyBegin.lastIndex = done
  }
  privateKeyBegin.lastIndex = 0
  return done === 0 ? text : kept.join('') + text.slice(done)
}

/** A shorter home path would match unrelated text. */
const homeCharsMin = 4
const ownHome = homedir()

/** Removes what looks like a secret or an e-mail address, and the user's home directory. */
export const redactText = (text: string, home: string = ownHome): string =>
  redactions.reduce((sum, { redact }) => redact(sum), replaceHome(text, home))

function replaceHome(text: string, home: string): string {
  if (home.length < homeCharsMin || !text.includes(home)) return text
  const pattern = new RegExp(`(?<![\\w.~-])${RegExp.escape(home)}(?![\\w.-])`, 'g')
  return replaceInWindows(text, { pattern, replace: () => '[home]' })
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
