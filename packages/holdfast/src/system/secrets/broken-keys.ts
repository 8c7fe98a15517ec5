/** Where a part of a broken key is. It is all on one line. */
export type KeyPart = { readonly from: number; readonly to: number }

/** A key that is broken into lines. */
export type BrokenKey = { readonly form: string; readonly parts: readonly KeyPart[] }

/** A character of a key, which may be the last one before a break. */
type Place = { readonly form: Buffer; readonly at: number }

/** How far a key is followed over its breaks: to its end, or to the end of the text, with so many characters of it. */
type Followed =
  | { readonly type: 'whole'; readonly parts: readonly KeyPart[] }
  | { readonly type: 'open'; readonly chars: number }
  | null

/** What a line may have before its own content: a number, the sign of a diff, a path, a time. */
const prefixCharsMax = 256
const trailingBlanksMax = 32
/** How many lines without content may be between two parts of a key. */
const emptyLinesMax = 32
/** What is between the parts of a key is remembered up to this length, when a text comes in pieces. */
const gapsCharsMax = 8 * 1024

const [lineFeed, carriageReturn, tab, space, plus, minus] = [10, 13, 9, 32, 43, 45]

/** A prefix ends with one of these: a blank, a NUL of UTF-16, or a character that stands between fields. */
const separators = tableOf('\0\t\r :-+|<>=,;\'"()[]{}#*/\\~')

/**
 * Creates the search for keys that are broken into lines. Texts are given as the low byte of each character. Between two
 * parts of a key, each line may begin with a prefix, as in a diff, in numbered lines or in the lines that a search has found,
 * and of a diff the lines of the other side are skipped. Only what is around each line feed is compared: the time is linear,
 * and no copy of the text is made.
 */
export function createBrokenKeySearch(forms: readonly string[]) {
  const places = indexPlaces(forms.map((form) => Buffer.from(form, 'latin1')))
  const spanMax = gapsCharsMax + forms.reduce((longest, form) => Math.max(longest, form.length), 0)

  /** Yields each start of a key at the end of a line, with what follows it. */
  function* follow(bytes: Buffer) {
    if (forms.length === 0) return
    const followerOf = createFollowers(bytes)
    for (let feed = nextFeed(bytes, 0); feed !== -1; feed = nextFeed(bytes, feed + 1)) {
      // A key may have blanks at the end of a line, or the line has them after it.
      const line = bytes[feed - 1] === carriageReturn ? feed - 1 : feed
      for (let end = line; end > 0; end = skipBack(bytes, line)) {
        const last = bytes[end - 1] ?? 0
        const wanted = places.isEnd(bytes[end - 2], last) ? places.after[last] : undefined
        const { starts, isOpen } = wanted ? findStarts(bytes, feed, wanted) : none
        for (const start of starts)
          for (const { form, at } of places.ofPair(last, bytes[start] ?? 0)) {
            const followed = isBefore(bytes, end, form, at) ? followerOf(form)(start, at + 1) : null
            if (followed !== null) yield { form, from: end - at - 1, end, followed }
          }
        if (isOpen)
          for (const { form, at } of places.ofChar(last))
            if (isBefore(bytes, end, form, at))
              yield { form, from: end - at - 1, end, followed: { type: 'open', chars: at + 1 } as const }
        if (end < line || !isBlank(last)) break
      }
    }
  }

  return {
    /** How many characters of a text that comes in pieces are remembered. */
    spanMax,

    /** Yields the keys that are broken into lines. */
    *find(bytes: Buffer): Generator<BrokenKey> {
      for (const { form, from, end, followed } of follow(bytes))
        if (followed.type === 'whole')
          yield { form: form.toString('latin1'), parts: [{ from, to: end }, ...followed.parts] }
    },

    /** Returns the length of the text's end that may be a key of which a part is still to come, after a break. */
    begun(bytes: Buffer, charsMin: (form: string) => number): number {
      const isBegun = (form: Buffer, chars: number) => chars >= charsMin(form.toString('latin1'))
      let first = bytes.length
      for (const { form, from, followed } of follow(bytes))
        if (followed.type === 'open' && isBegun(form, followed.chars)) first = Math.min(first, from)
      // The blanks at the end may be the first characters of a break.
      const end = skipBack(bytes, bytes.length)
      if (end > 0 && end < bytes.length)
        for (const { form, at } of places.ofChar(bytes[end - 1] ?? 0))
          if (isBefore(bytes, end, form, at) && isBegun(form, at + 1)) first = Math.min(first, end - at - 1)
      return bytes.length - first
    },
  }
}

function tableOf(chars: string): Uint8Array {
  const table = new Uint8Array(0x100)
  for (const byte of Buffer.from(chars, 'latin1')) table[byte] = 1
  return table
}

/** For each character, a table that has only this one. */
const tables = Array.from({ length: 0x100 }, (_, code) => tableOf(String.fromCharCode(code)))

/** Indexes the characters of keys by themselves and by the next one, except for the last of each key. */
function indexPlaces(forms: readonly Buffer[]) {
  const chars = new Map<number, Place[]>()
  const pairs = new Map<number, Place[]>()
  /** For each character, a table of those that follow it in a key. */
  const after: (Uint8Array | undefined)[] = new Array(0x100).fill(undefined)
  const pairOf = (one: number, other: number) => one * 0x100 + other
  /** The first characters of keys, and the pairs of neighbours. */
  const firsts = new Uint8Array(0x100)
  const neighbours = new Uint8Array(0x10000)
  const add = (map: Map<number, Place[]>, key: number, place: Place) => {
    const list = map.get(key)
    if (list) list.push(place)
    else map.set(key, [place])
  }
  for (const form of forms) {
    firsts[form[0] ?? 0] = 1
    for (let at = 0; at + 1 < form.length; at++) {
      const [one, other] = [form[at] ?? 0, form[at + 1] ?? 0]
      neighbours[pairOf(one, other)] = 1
      add(chars, one, { form, at })
      add(pairs, pairOf(one, other), { form, at })
      const table = after[one] ?? new Uint8Array(0x100)
      table[other] = 1
      after[one] = table
    }
  }
  return {
    after,
    /** Whether a key may be broken after these two characters. Quick: most lines end with others. */
    isEnd: (one: number = 0, other: number): boolean => firsts[other] === 1 || neighbours[pairOf(one, other)] === 1,
    ofChar: (char: number): readonly Place[] => chars.get(char) ?? [],
    ofPair: (one: number, other: number): readonly Place[] => pairs.get(pairOf(one, other)) ?? [],
  }
}

/** Whether all characters of a key up to `at` are before `end`. */
function isBefore(bytes: Buffer, end: number, form: Buffer, at: number): boolean {
  if (end <= at) return false
  for (let back = 0; back <= at; back++) if (bytes[end - 1 - back] !== form[at - back]) return false
  return true
}

const isBlank = (code: number | undefined): boolean => code === space || code === tab || code === carriageReturn

/** Up to this length, a line feed is found sooner without the search of buffers, which takes time to begin. */
const shortChars = 64

/** Returns where the next line feed is; -1 if there is none. */
function nextFeed(bytes: Buffer, from: number): number {
  const end = Math.min(from + shortChars, bytes.length)
  for (let at = from; at < end; at++) if (bytes[at] === lineFeed) return at
  return bytes.indexOf(lineFeed, end)
}

/** Returns the end of a line without the blanks before `end`. */
function skipBack(bytes: Buffer, end: number): number {
  let at = end
  while (isBlank(bytes[at - 1]) && end - at < trailingBlanksMax) at--
  return at
}

/** Where a key may go on after a break. `isOpen` says that the text ends before all such places. */
type Starts = { readonly starts: readonly number[]; readonly isOpen: boolean }

const none: Starts = { starts: [], isOpen: false }

/** Finds the places after the line that ends with `feed` at which one of the wanted characters may be the next of a key. */
function findStarts(bytes: Buffer, feed: number, wanted: Uint8Array): Starts {
  const next = startsFrom(bytes, feed + 1, wanted)
  const line = afterOtherSide(bytes, feed)
  if (line === null) return next
  const later = startsFrom(bytes, line, wanted)
  return { starts: [...next.starts, ...later.starts], isOpen: next.isOpen || later.isOpen }
}

/** The same for the line that begins at `from`, and for some lines after it as long as they are only a prefix. */
function startsFrom(bytes: Buffer, from: number, wanted: Uint8Array): Starts {
  let starts: number[] | null = null // most lines have no such place
  for (let line = from, empty = 0; empty <= emptyLinesMax; empty++) {
    const end = Math.min(line + prefixCharsMax, bytes.length)
    let at = line
    let isStart = true
    for (; at < end; at++) {
      const char = bytes[at] ?? 0
      if (isStart && wanted[char] === 1) {
        starts ??= []
        starts.push(at)
      }
      if (char === lineFeed) break
      isStart = separators[char] === 1
    }
    if (at === bytes.length) return { starts: starts ?? [], isOpen: true }
    if (bytes[at] !== lineFeed || !isStart) break
    line = at + 1
  }
  return starts === null ? none : { starts, isOpen: false }
}

/**
 * Returns where a diff goes on after the lines of its other side: between a line that stays and the next one, there may be
 * lines that were added. Null if the next line is no line of the other side.
 */
function afterOtherSide(bytes: Buffer, feed: number): number | null {
  const sign = bytes[feed + 1]
  if (sign !== plus && sign !== minus) return null
  const own = bytes[feed === 0 ? 0 : bytes.lastIndexOf(lineFeed, feed - 1) + 1]
  if (sign === own) return null
  let line = feed + 1
  while (bytes[line] === sign) {
    const end = bytes.indexOf(lineFeed, line)
    line = end === -1 ? bytes.length : end + 1
  }
  return line
}

/** Returns how far a key goes on from its character `index`, which is at `from`. */
type Follow = (from: number, index: number) => Followed

/** Follows keys from line to line. */
function createFollowers(bytes: Buffer): (form: Buffer) => Follow {
  const followers = new Map<Buffer, Follow>()
  return (form) => {
    const follower = followers.get(form) ?? createFollower(bytes, form)
    followers.set(form, follower)
    return follower
  }
}

function createFollower(bytes: Buffer, form: Buffer): Follow {
  /** What follows a line feed: a key that repeats itself may come there in several ways, and goes on in the same way. */
  const known = new Map<number, Followed>()

  function onLine(from: number, index: number): Followed {
    let [at, next] = [from, index]
    while (next < form.length && at < bytes.length && bytes[at] === form[next]) {
      at++
      next++
    }
    if (next === form.length) return { type: 'whole', parts: [{ from, to: at }] }
    const to = at
    while (isBlank(bytes[at]) && at - to < trailingBlanksMax) at++
    if (at === bytes.length) return { type: 'open', chars: next }
    if (bytes[at] !== lineFeed) return null
    const rest = afterLine(at, next)
    return rest?.type === 'whole' ? { type: 'whole', parts: [{ from, to }, ...rest.parts] } : rest
  }

  function afterLine(feed: number, index: number): Followed {
    const place = feed * form.length + index
    const before = known.get(place)
    if (before !== undefined) return before
    const { starts, isOpen } = findStarts(bytes, feed, tables[form[index] ?? 0] ?? separators)
    let found: Followed = isOpen ? { type: 'open', chars: index } : null
    for (const start of starts) if (found?.type !== 'whole') found = further(found, onLine(start, index))
    known.set(place, found)
    return found
  }

  return onLine
}

/** Returns the one that comes further. */
function further(one: Followed, other: Followed): Followed {
  if (one === null || other === null) return one ?? other
  if (one.type === 'whole' || other.type === 'whole') return one.type === 'whole' ? one : other
  return one.chars >= other.chars ? one : other
}
