import { limits } from '@holdfast/protocol'

type Args = { readonly [name: string]: unknown }

/** Of a longer list or object, so many of its first and so many of its last entries are shown. */
const shownAtEachEnd = 32

/**
 * Cuts arguments that are too long for a preview, so that nobody has to escape or print what is left out: the ends of long
 * texts, lists and objects stay, and each field gets its share. Returns null if they fit. The work is bounded by the
 * length of a preview, however long the arguments are.
 */
export function cutArguments(args: Args): Args | null {
  if (measure(args, limits.previewBytesMax, 0) <= limits.previewBytesMax) return null
  return cutObject(args, limits.previewBytesMax / 2, 0)
}

/** Returns about how long a value is as indented JSON. Stops counting beyond `most`. */
function measure(value: unknown, most: number, depth: number): number {
  if (typeof value === 'string') return value.length + 2
  if (value === null || typeof value !== 'object') return 8
  let chars = 2 + 2 * depth
  const isList = Array.isArray(value)
  for (const name of isList ? value.keys() : Object.keys(value)) {
    if (chars > most) break
    chars += lineChars(depth) + String(name).length + measure(Reflect.get(value, name), most - chars, depth + 1)
  }
  return chars
}

/** The indent of a line, its quotes, colon, comma and line feed. */
const lineChars = (depth: number): number => 2 * depth + 8

function cutValue(value: unknown, chars: number, depth: number): unknown {
  if (typeof value === 'string') return cutString(value, chars)
  if (value === null || typeof value !== 'object') return value
  if (chars < lineChars(depth)) return '[… left out …]'
  return Array.isArray(value) ? cutList(value, chars, depth) : cutObject({ ...value }, chars, depth)
}

function cutList(list: readonly unknown[], chars: number, depth: number): readonly unknown[] {
  const share = createShares(Math.min(list.length, 2 * shownAtEachEnd), chars)
  const cut = (value: unknown) => share(value, depth, (most) => cutValue(value, most, depth + 1))
  if (list.length <= 2 * shownAtEachEnd) return list.map(cut)
  const mark = `[… ${list.length - 2 * shownAtEachEnd} values left out …]`
  return [...list.slice(0, shownAtEachEnd).map(cut), mark, ...list.slice(-shownAtEachEnd).map(cut)]
}

function cutObject(object: Args, chars: number, depth: number): Args {
  const names = Object.keys(object)
  const share = createShares(Math.min(names.length, 2 * shownAtEachEnd), chars)
  const shown = new Map<string, unknown>()
  const add = (name: string) => {
    const value = object[name]
    share([name, value], depth, (most) => {
      const short = cutString(name, most / 2)
      // Two long names may have the same ends, and neither may hide the other.
      shown.set(shown.has(short) ? `${short} (${shown.size})` : short, cutValue(value, most / 2, depth + 1))
    })
  }
  const isLong = names.length > 2 * shownAtEachEnd
  for (const name of isLong ? names.slice(0, shownAtEachEnd) : names) add(name)
  if (isLong) shown.set('…', `[… ${names.length - 2 * shownAtEachEnd} fields left out …]`)
  if (isLong) for (const name of names.slice(-shownAtEachEnd)) add(name)
  return Object.fromEntries(shown)
}

/** Divides the room of a list or object among its entries. A short entry leaves more for those after it. */
function createShares(count: number, chars: number) {
  let [entries, left] = [count, chars]
  return <Value>(value: unknown, depth: number, cut: (most: number) => Value): Value => {
    const most = Math.floor(left / Math.max(1, entries--))
    left -= Math.min(most, measure(value, most, depth))
    return cut(most)
  }
}

function cutString(text: string, chars: number): string {
  if (text.length <= Math.max(chars, 64)) return text
  const half = Math.max(16, Math.floor(chars / 2))
  // A cut inside a surrogate pair leaves a replacement character.
  const [head, tail] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()]
  return `${head}\n[… ${text.length - 2 * half} characters left out …]\n${tail}`
}
