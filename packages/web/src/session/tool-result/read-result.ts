/** The result of a tool that reads a file: its lines, and notes such as how much was left out. */
export type FileResult = {
  readonly first: number
  readonly text: string
  readonly lines: number
  readonly notes: readonly string[]
}

/** Takes numbered lines (`12⇥text`) apart; null if the text has another form. */
export function parseFileResult(text: string): FileResult | null {
  const lines: string[] = []
  const notes: string[] = []
  let first = 0
  for (const line of text.split('\n')) {
    const numbered = /^(\d+)\t(.*)$/s.exec(line)
    if (numbered) {
      if (notes.length > 0) return null
      if (lines.length === 0) first = Number(numbered[1])
      if (Number(numbered[1]) !== first + lines.length) return null
      lines.push(numbered[2] ?? '')
    } else if (/^\[.*\]$/.test(line)) notes.push(line.slice(1, -1))
    else return null
  }
  return lines.length === 0 ? null : { first, text: lines.join('\n'), lines: lines.length, notes }
}

/** A file of a search, with the lines that matched and those beside them. */
export type FoundFile = {
  readonly path: string
  readonly lines: readonly { readonly number: number; readonly text: string; readonly isMatch: boolean }[]
}
export type SearchResult = { readonly files: readonly FoundFile[]; readonly notes: readonly string[] }

/** Takes the result of a search apart: paths, and below a path its lines (`12:` is a match, `12-` stands beside one). */
export function parseSearchResult(text: string): SearchResult {
  const files: { path: string; lines: { number: number; text: string; isMatch: boolean }[] }[] = []
  const notes: string[] = []
  for (const line of text.split('\n')) {
    const found = /^(\d+)([:-])(.*)$/s.exec(line)
    const last = files.at(-1)
    if (line === '' || line === '--') continue
    if (/^\[.*\]$/.test(line)) notes.push(line.slice(1, -1))
    else if (found && last)
      last.lines.push({ number: Number(found[1]), text: found[3] ?? '', isMatch: found[2] === ':' })
    else files.push({ path: line, lines: [] })
  }
  return { files, notes }
}

export type FetchResult = { readonly about: string; readonly text: string }

/** Takes the first line of a fetched page, which says what it is, from its text; null if the text has another form. */
export function parseFetchResult(text: string): FetchResult | null {
  const found = /^\[([^\n]*)\]\n\n([\s\S]*)$/.exec(text)
  return found ? { about: found[1] ?? '', text: found[2] ?? '' } : null
}
