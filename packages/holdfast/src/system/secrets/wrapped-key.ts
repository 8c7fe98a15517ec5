/** Where a program breaks a long text into lines, as `base64` does after 76 characters; they may be set in. */
const lineBreak = String.raw`\r?\n[ \t]{0,32}`
const lineBreaks = new RegExp(`${lineBreak}|\\r$`, 'g') // at the end of a piece, half a break is one
/** Two words in two lines are no key, though they would make a short one. */
const formCharsMin = 16

/** The text with the mark in place of each form that is broken into lines. One more look for each, and no more. */
export function maskWrapped(text: string, forms: readonly string[], mark: string): string {
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
export function wrappedBegun(
  text: string,
  forms: readonly string[],
  begunBy: (text: string, form: string) => number,
): number {
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
