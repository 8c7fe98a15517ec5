/** A character of a key and where it is. */
type Place = { readonly form: string; readonly at: number }

/**
 * Returns a function that tells whether one of the keys may be in a text, broken into lines: each break would stand between two
 * characters that are neighbours in a key. Such a pair is looked for at each line feed, because a search in a text without its
 * breaks takes much longer. It may say yes where blanks are too many to be a break, and never says no to a broken key.
 */
export function createBreakCheck(forms: readonly string[]): (text: string) => boolean {
  if (forms.length === 0) return () => false
  if (forms.some((form) => /\s/.test(form))) return (text) => text.includes('\n')
  const neighbours = placesByPair(forms)
  const firsts = new Uint8Array(0x10000)
  for (const { form, at } of [...neighbours.values()].flat()) firsts[form.charCodeAt(at)] = 1
  return (text) => {
    for (let feed = text.indexOf('\n'); feed !== -1; ) {
      const from = skipBack(text, feed)
      const to = skipOn(text, feed)
      // Most lines end with a character that no key has, so the pair is not looked up.
      const places =
        firsts[text.charCodeAt(from)] === 1 ? neighbours.get(pairOf(text.charCodeAt(from), text.charCodeAt(to))) : null
      if (places?.some((place) => isAround(text, from, to, place))) return true
      feed = text.indexOf('\n', to)
    }
    return false
  }
}

function placesByPair(forms: readonly string[]): ReadonlyMap<number, readonly Place[]> {
  const places = new Map<number, Place[]>()
  for (const form of forms)
    for (let at = 0; at + 1 < form.length; at++) {
      const pair = pairOf(form.charCodeAt(at), form.charCodeAt(at + 1))
      places.set(pair, [...(places.get(pair) ?? []), { form, at }])
    }
  return places
}

const pairOf = (one: number, other: number): number => one * 0x10000 + other

const isBlank = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

/** Returns where the last character before a break is; below 0 if there is none. */
function skipBack(text: string, at: number): number {
  let from = at - 1
  while (isBlank(text.charCodeAt(from))) from--
  return from
}

function skipOn(text: string, at: number): number {
  let to = at + 1
  while (isBlank(text.charCodeAt(to))) to++
  return to
}

/** Whether the whole key is there. `from` and `to` are the characters before and after a break. */
function isAround(text: string, from: number, to: number, { form, at }: Place): boolean {
  let here = from
  for (let index = at; index >= 0; index--, here--) {
    if (isBlank(text.charCodeAt(here))) here = skipBack(text, here)
    if (text.charCodeAt(here) !== form.charCodeAt(index)) return false
  }
  here = to
  for (let index = at + 1; index < form.length; index++, here++) {
    if (isBlank(text.charCodeAt(here))) here = skipOn(text, here)
    if (text.charCodeAt(here) !== form.charCodeAt(index)) return false
  }
  return true
}
