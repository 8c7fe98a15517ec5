/** A line or a file that ripgrep has printed. */
export type Match = {
  /** Relative to the searched directory. */
  readonly path: string
  /** 0 where whole files are listed. */
  readonly line: number
  /** The line, the count, or nothing. */
  readonly text: string
  /** False for a line of context. */
  readonly isMatch: boolean
}

/** A record that is longer than this is not one of ripgrep: it cuts lines. */
const recordBytesMax = 1024 * 1024
/** Printed without a NUL, before the next record. */
const binaryNote =
  /^[^\0]*?: (?:WARNING: stopped searching binary file after match|binary file matches) \(found "[^"\n]*" byte around offset \d+\)\n/
const [nul, lineFeed] = [0, 10]

/** Reads what ripgrep prints with `--null`, chunk by chunk. A path ends with NUL, so it may hold a line feed. */
export function createMatchReader(mode: 'content' | 'files' | 'count') {
  let rest: Buffer = Buffer.alloc(0)

  function* read(chunk: Buffer): Generator<Match> {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    for (;;) {
      const pathEnd = bytes.indexOf(nul, at)
      if (pathEnd < 0) break
      const end = mode === 'files' ? pathEnd : bytes.indexOf(lineFeed, pathEnd)
      if (end < 0) break
      const path = bytes.toString('utf8', at, pathEnd).replace(binaryNote, '').replace(/^\.\//, '')
      const text = bytes.toString('utf8', pathEnd + 1, end)
      at = end + 1
      yield mode === 'content'
        ? lineOf(path, text)
        : { path, line: 0, text: mode === 'files' ? '' : text, isMatch: true }
    }
    rest = bytes.length - at > recordBytesMax ? Buffer.alloc(0) : bytes.subarray(at)
  }
  return { read }
}

function lineOf(path: string, printed: string): Match {
  const [, line = '0', mark = ':', text = printed] = /^(\d+)([:-])([\s\S]*)$/.exec(printed) ?? []
  return { path, line: Number(line), text: text.replace(/\r$/, ''), isMatch: mark === ':' }
}
