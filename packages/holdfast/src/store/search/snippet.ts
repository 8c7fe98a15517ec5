import { clip } from '@holdfast/protocol/text-of'
import type { Query } from './query.ts'
import { fold } from './words.ts'

const snippetCharsMax = 160
const beforeCharsMax = 60
/** Spaces are taken together, so more is cut out than is shown. */
const cutCharsMax = 600
const foldedCharsMax = 20_000

/** Some words around the first that was found, on one line, with nothing in it that a screen would obey. */
export function snippetOf(text: string, query: Query): string {
  const found = firstPlace(text, query)
  const isWithin = found > 0
  const before = oneLine(text.slice(Math.max(0, found - cutCharsMax), found))
  const lead = isWithin ? clipStart(before.trimStart(), beforeCharsMax) : ''
  const isCut = lead.length < before.trimStart().length || found > cutCharsMax
  const room = snippetCharsMax - lead.length
  const rest = oneLine(text.slice(found, found + cutCharsMax)).trimEnd()
  const tail = clip(rest, room)
  const goesOn = tail.length < rest.length || found + cutCharsMax < text.length
  return `${isCut ? '…' : ''}${lead}${tail}${goesOn ? '…' : ''}`.trim()
}

/** Where the first term stands; 0 when it stands there in a form that only an index sees. */
function firstPlace(text: string, query: Query): number {
  const lower = text.toLowerCase()
  for (const look of looks(query)) {
    const place = lower.length === text.length ? lower.indexOf(look) : -1
    if (place >= 0) return place
  }
  if (text.length > foldedCharsMax) return 0
  const { folded, places } = foldWithPlaces(text)
  for (const look of looks(query)) {
    const place = folded.indexOf(look)
    if (place >= 0) return places[place] ?? 0
  }
  return 0
}

/** As written, then word by word, then piece by piece. */
const looks = (query: Query): readonly string[] => [
  ...query.map(({ written }) => written),
  ...query.flatMap(({ words }) => words),
  ...query.flatMap(({ parts }) => parts ?? []),
]

/** Folding may change lengths: each unit of the folded text remembers where it came from. */
function foldWithPlaces(text: string): { readonly folded: string; readonly places: readonly number[] } {
  const places: number[] = []
  let folded = ''
  let place = 0
  for (const char of text) {
    const more = fold(char)
    folded += more
    for (let unit = 0; unit < more.length; unit += 1) places.push(place)
    place += char.length
  }
  return { folded, places }
}

const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replace(
      /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu,
      '',
    )
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')

/** The last characters, never half of a surrogate pair. */
function clipStart(text: string, max: number): string {
  const end = text.slice(-max)
  return /^[\udc00-\udfff]/.test(end) ? end.slice(1) : end
}
