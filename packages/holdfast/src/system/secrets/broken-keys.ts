/** A character of a key and where it is. */
type Place = { readonly form: Buffer; readonly at: number }

/**
 * Returns a function that tells whether a key may be in a text, broken into lines. The text is given as the low byte of each
 * character. A break splits two neighbours of a key, so that only the characters around each line feed are compared: a search
 * in the text without its breaks takes much longer. It may say yes for a run of blanks that is too long to be a break, and
 * never says no to a broken key.
 */
export function createBreakCheck(forms: readonly string[]): (bytes: Buffer) => boolean {
  if (forms.length === 0) return () => false
  if (forms.some((form) => /\s/.test(form))) return (bytes) => bytes.includes(lineFeed)
  const neighbours = placesByPair(forms.map((form) => Buffer.from(form, 'latin1')))
  const firsts = new Uint8Array(0x100)
  for (const { form, at } of [...neighbours.values()].flat()) firsts[form[at] ?? 0] = 1
  return (bytes) => {
    for (let feed = bytes.indexOf(lineFeed); feed !== -1; ) {
      const from = skipBack(bytes, feed)
      const to = skipOn(bytes, feed)
      const [one, other] = [bytes[from] ?? 0, bytes[to] ?? 0]
      // Most lines end with a character that no key has, so the pair is not looked up.
      const places = firsts[one] === 1 ? neighbours.get(pairOf(one, other)) : null
      if (places?.some((place) => isAround(bytes, from, to, place))) return true
      feed = bytes.indexOf(lineFeed, to)
    }
    return false
  }
}

const lineFeed = 10

function placesByPair(forms: readonly Buffer[]): ReadonlyMap<number, readonly Place[]> {
  const places = new Map<number, Place[]>()
  for (const form of forms)
    for (let at = 0; at + 1 < form.length; at++) {
      const pair = pairOf(form[at] ?? 0, form[at + 1] ?? 0)
      places.set(pair, [...(places.get(pair) ?? []), { form, at }])
    }
  return places
}

const pairOf = (one: number, other: number): number => one * 0x100 + other

const isBlank = (code: number | undefined): boolean => code === 32 || code === 10 || code === 13 || code === 9

/** Returns where the last character before a break is; below 0 if there is none. */
function skipBack(bytes: Buffer, at: number): number {
  let from = at - 1
  while (isBlank(bytes[from])) from--
  return from
}

function skipOn(bytes: Buffer, at: number): number {
  let to = at + 1
  while (isBlank(bytes[to])) to++
  return to
}

/** Whether the whole key is there. `from` and `to` are the characters before and after a break. */
function isAround(bytes: Buffer, from: number, to: number, { form, at }: Place): boolean {
  let here = from
  for (let index = at; index >= 0; index--, here--) {
    if (isBlank(bytes[here])) here = skipBack(bytes, here)
    if (bytes[here] !== form[index]) return false
  }
  here = to
  for (let index = at + 1; index < form.length; index++, here++) {
    if (isBlank(bytes[here])) here = skipOn(bytes, here)
    if (bytes[here] !== form[index]) return false
  }
  return true
}
