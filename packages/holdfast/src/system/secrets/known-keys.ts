import { inspect } from 'node:util'
import { type BrokenKey, createBrokenKeySearch } from './broken-keys.ts'

/** Replaces a key in masked text. */
export const keyMark = '[key removed]'

/** A shorter key, or one without digits below `wordCharsMin`, may be an ordinary word (`ollama`, `not-needed`). */
const charsMin = 8
const wordCharsMin = 24
/** After these words even such a word is masked. */
const introduced = String.raw`(?<=(?:bearer|basic|api[-_ ]?key|token|secret|authorization)["'\s:=]{1,8})`

/**
 * Every key that this process has read: a running answer may still quote a replaced one. Global, because the writer of a log
 * or fault cannot know which provider's key a text may contain.
 */
const known = new Set<string>()
let forms: readonly string[] = []
let words: readonly RegExp[] = []
let broken = createBrokenKeySearch([])

/** Makes `maskKeys` mask this key from now on. */
export function registerKey(key: string): void {
  if (key === '' || known.has(key)) return
  const isWord = key.length < charsMin || (key.length < wordCharsMin && !/\d/.test(key))
  known.add(key)
  if (isWord) words = [...words, new RegExp(`${introduced}${RegExp.escape(key)}(?![\\w-])`, 'gi')]
  // Longest first: masking a prefix would leave the end of a longer key.
  else forms = [...new Set([...forms, ...formsOf(key)])].sort((one, other) => other.length - one.length)
  broken = createBrokenKeySearch(forms.filter((form) => form.length >= brokenCharsMin))
}

/** Replaces known keys in a text. */
export function maskKeys(text: string): string {
  let masked = text
  for (const form of forms) if (masked.includes(form)) masked = masked.replaceAll(form, keyMark)
  masked = maskBroken(masked)
  for (const word of words) masked = masked.replace(word, keyMark)
  return masked
}

/** Returns every known key, for a thread that masks too. */
export const knownKeys = (): readonly string[] => [...known]

/** Returns whether any key is known. */
export const hasKeys = (): boolean => known.size > 0

export const holdsKey = (text: string): boolean => maskKeys(text) !== text

/** Returns whether some of these bytes may be a known key. Quick for megabytes, which hardly ever hold one. */
export function mayHoldKey(bytes: Buffer): boolean {
  if (forms.some((form) => bytes.includes(form, 0, 'latin1')) || broken.find(bytes).next().done === false) return true
  return words.length > 0 && holdsKey(bytes.toString('latin1'))
}

/** Returns the low byte of each character: enough to look for keys, which are ASCII. */
const latin1Of = (text: string): Buffer => Buffer.from(text, 'latin1')

/** Returns how many characters a masked part of a text may have: a key in any form, broken into lines, and what introduces it. */
export const keySpanMax = (): number => introductionChars + Math.max(broken.spanMax, forms[0]?.length ?? 0)

/** Returns the length of the text's end that may be the start of a key: piecewise masking remembers it. */
export const keyBegun = (text: string): number => longestStart(text, () => 1)

/** How much of a key may be shown before the rest of it has come, in characters and as a share of the key. */
const startCharsMax = 4
const startShareMax = 1 / 4

/**
 * Returns the length of the text's end that must not be shown yet: so long a start of a key that hardly any other text ends
 * with it. A shorter one is shown, because a word ends like that more often: with a key `sk-…`, each that ends in `s`.
 */
export const keyHeldBack = (text: string): number =>
  longestStart(text, (form) => Math.min(startCharsMax, Math.floor(form.length * startShareMax)) + 1)

/** Returns the length of the text's longest end that is the start of a key, of `charsMin` characters or more. */
function longestStart(text: string, charsMin: (form: string) => number): number {
  const inLine = forms.reduce((longest, form) => Math.max(longest, begunBy(text, form, charsMin(form))), 0)
  return Math.max(inLine, broken.begun(latin1Of(text.slice(-broken.spanMax)), charsMin))
}

function begunBy(text: string, form: string, charsMin: number): number {
  const [first = ''] = form
  const from = Math.max(0, text.length - form.length + 1)
  for (let at = text.indexOf(first, from); at !== -1 && text.length - at >= charsMin; at = text.indexOf(first, at + 1))
    if (form.startsWith(text.slice(at))) return text.length - at
  return 0
}

/** Returns a key in plain form and as it appears in JSON, URLs, HTML, UTF-16 read as bytes, and base64 at any offset. */
function formsOf(key: string): readonly string[] {
  const escaped = JSON.stringify(key).slice(1, -1)
  const inPage = key.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
  const inUtf16 = [...key].join('\0')
  return [key, escaped, encodeURIComponent(key), inPage, inUtf16, ...base64Of(key)]
}

/** Returns the base64 of a key for each of the three byte offsets, without the characters shared with its neighbours. */
function base64Of(key: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.from(`${' '.repeat(before)}${key}`)
    const whole = Math.floor(bytes.length / 3) * 4
    const start = before === 0 ? 0 : 4
    return [bytes.toString('base64').slice(start, whole), bytes.toString('base64url').slice(start, whole)]
  })
}

/** What introduces a key has at most so many characters. */
const introductionChars = 32

/** Shorter forms are not matched across lines: two words on two lines could look like a key. */
const brokenCharsMin = 16

/**
 * Masks keys that are broken into lines. All that is between their parts stays: the lines of an edit boundary are counted in
 * masked text, too.
 */
function maskBroken(text: string): string {
  // The search sees only the low byte of each character.
  const isThere = ({ form, parts }: BrokenKey) => parts.map(({ from, to }) => text.slice(from, to)).join('') === form
  const keys = [...broken.find(latin1Of(text))].filter(isThere)
  if (keys.length === 0) return text
  const parts = keys.flatMap(({ parts }) => parts.map((part, index) => ({ ...part, mark: index === 0 ? keyMark : '' })))
  parts.sort((one, other) => one.from - other.from || other.to - one.to)
  let masked = ''
  let end = 0
  for (const { from, to, mark } of parts) {
    if (from >= end) masked += text.slice(end, from) + mark // two keys may overlap
    end = Math.max(end, to)
  }
  return masked + text.slice(end)
}

/** How deep an error is searched: libraries attach requests and headers to errors. */
const depthMax = 8

/** Returns the error itself if it contains no known key, else a copy with message, stack and code masked. */
export function maskError(thrown: unknown): unknown {
  if (typeof thrown === 'string') return maskKeys(thrown)
  const text = inspect(thrown, { depth: depthMax, customInspect: false, maxStringLength: null, maxArrayLength: null })
  if (!holdsKey(text)) return thrown
  if (!(thrown instanceof Error)) return maskKeys(text)
  const masked = new Error(maskKeys(thrown.message))
  masked.name = thrown.name
  if (thrown.stack !== undefined) masked.stack = maskKeys(thrown.stack)
  return 'code' in thrown && typeof thrown.code === 'string' ? Object.assign(masked, { code: thrown.code }) : masked
}
