import { inspect } from 'node:util'

/** What stands in a text where a key stood. */
export const keyMark = '[key removed]'

/** Shorter than this, or without a digit and shorter than that, it may be a word that people use (`ollama`, `not-needed`). */
const charsMin = 8
const wordCharsMin = 24
/** Behind these words even such a key is one. */
const introduced = String.raw`(?<=(?:bearer|basic|api[-_ ]?key|token|secret|authorization)["'\s:=]{1,8})`

type Known = { readonly forms: readonly string[]; readonly introduced: RegExp | null }

/**
 * Every key that this process ever read, for as long as it runs: one that was replaced may still be quoted by an answer on
 * its way. It is the process's own because whoever writes a log or a fault cannot know whose key a text might hold.
 */
const known = new Map<string, Known>()
let forms: readonly string[] = []
let words: readonly RegExp[] = []

/** From now on the key is masked in whatever passes through `maskKeys`. */
export function registerKey(key: string): void {
  if (key === '' || known.has(key)) return
  const isWord = key.length < charsMin || (key.length < wordCharsMin && !/\d/.test(key))
  known.set(key, isWord ? { forms: [], introduced: introducedOnly(key) } : { forms: formsOf(key), introduced: null })
  const all = [...known.values()]
  // The longest first: a key that begins like another must not leave its end behind.
  forms = [...new Set(all.flatMap((one) => one.forms))].sort((one, other) => other.length - one.length)
  words = all.flatMap((one) => one.introduced ?? [])
}

/** The text without any key that is known. One look for each form of a key, so that long texts cost little. */
export function maskKeys(text: string): string {
  let masked = text
  for (const form of forms) if (masked.includes(form)) masked = masked.replaceAll(form, keyMark)
  masked = maskWrapped(masked, forms, keyMark)
  for (const word of words) masked = masked.replace(word, keyMark)
  return masked
}

/** Whether there is anything to look for. */
export const hasKeys = (): boolean => known.size > 0

export const holdsKey = (text: string): boolean => maskKeys(text) !== text

/** How long the end of a text is that may be the beginning of a key: whoever masks piece by piece holds it back. */
export function keyBegun(text: string): number {
  const inLine = forms.reduce((longest, form) => Math.max(longest, begunBy(text, form)), 0)
  return Math.max(inLine, wrappedBegun(text, forms, begunBy))
}

function begunBy(text: string, form: string): number {
  const [first = ''] = form
  const from = Math.max(0, text.length - form.length + 1)
  for (let at = text.indexOf(first, from); at !== -1; at = text.indexOf(first, at + 1))
    if (form.startsWith(text.slice(at))) return text.length - at
  return 0
}

/** A key as it is, and as it stands in JSON, an address, a page, and in base64, behind whatever was encoded with it. */
function formsOf(key: string): readonly string[] {
  const escaped = JSON.stringify(key).slice(1, -1)
  const inPage = key.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
  return [key, escaped, encodeURIComponent(key), inPage, ...base64Of(key)]
}

/** Three bytes are four characters, so it looks different by how many bytes stand before it; the edges are shared and left out. */
function base64Of(key: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.from(`${' '.repeat(before)}${key}`)
    const whole = Math.floor(bytes.length / 3) * 4
    const start = before === 0 ? 0 : 4
    return [bytes.toString('base64').slice(start, whole), bytes.toString('base64url').slice(start, whole)]
  })
}

const introducedOnly = (key: string): RegExp =>
  new RegExp(`${introduced}${key.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)}(?![\\w-])`, 'gi')

/** Where a program breaks a long text into lines, as `base64` does after 76 characters; they may be set in. */
const lineBreak = String.raw`\r?\n[ \t]{0,32}`
const lineBreaks = new RegExp(`${lineBreak}|\\r$`, 'g') // at the end of a piece, half a break is one
/** Two words in two lines are no key, though they would make a short one. */
const formCharsMin = 16

/** The text with the mark in place of each form that is broken into lines. One more look for each, and no more. */
function maskWrapped(text: string, forms: readonly string[], mark: string): string {
  if (!text.includes('\n')) return text
  const joined = text.replace(lineBreaks, '')
  let masked = text
  for (const form of forms)
    if (form.length >= formCharsMin && joined.includes(form)) masked = masked.replace(wrapped(form), mark)
  return masked
}

const wrapped = (form: string): RegExp =>
  new RegExp(Array.from(form, (char) => RegExp.escape(char)).join(`(?:${lineBreak})?`), 'g')

/** How long the end of a text is that may be the beginning of a form broken into lines; `begunBy` tells it of one line. */
function wrappedBegun(text: string, forms: readonly string[], begunBy: (text: string, form: string) => number): number {
  const [longest = ''] = forms
  const tail = text.slice(-3 * longest.length)
  const breaks = [...tail.matchAll(lineBreaks)]
  if (breaks.length === 0) return 0
  const joined = tail.replace(lineBreaks, '')
  const begun = forms.reduce((most, form) => Math.max(most, begunBy(joined, form)), 0)
  return begun === 0 ? 0 : tail.length - placeOf(joined.length - begun, breaks)
}

/** Where a character of the joined text stood before. */
function placeOf(joinedIndex: number, breaks: readonly RegExpExecArray[]): number {
  let index = joinedIndex
  for (const { 0: gone, index: at } of breaks) {
    if (at > index) break
    index += gone.length
  }
  return index
}

/** So deep an error is looked into: a library hangs requests and their headers on what it throws. */
const depthMax = 8

/** What was thrown, without any key we know. It is the same where it holds none; else what it says and where, and no more. */
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
