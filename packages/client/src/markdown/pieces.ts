/** How long a piece gets before it ends at a gap between blocks, at any blank line, and at any line. */
export type PieceSizes = { readonly atGap: number; readonly atBlank: number; readonly atLine: number }

const usualSizes: PieceSizes = { atGap: 40_000, atBlank: 60_000, atLine: 80_000 }

/** A text with more link definitions loses those of the others: each piece repeats them. */
const definitionsMax = 200

const fence = /^ {0,3}(`{3,}|~{3,})/
const definition = /^ {0,3}\[(?!\^)[^\]\n]+\]: *\S/
const continued = /^([ \t>]|[-*+] |\d+[.)] |\[\^)/

type Scan = {
  /** The text so far, up to the end of its last whole line. */
  readonly text: string
  /** Where each piece begins. */
  readonly starts: readonly number[]
  /** The marker of the open code block; null outside of one. */
  readonly openFence: string | null
  readonly isAfterBlank: boolean
  readonly definitions: readonly string[]
}

const nothingScanned: Scan = { text: '', starts: [0], openFence: null, isAfterBlank: false, definitions: [] }

/**
 * Creates the splitter of one growing text. It divides a long text into pieces that can be parsed one by one: parsing and drawing
 * a long text at once would block the page. No piece begins within a code block. A piece stays the same while the text
 * grows, except the last one and, with new link definitions, all.
 */
export function createPieceSplitter(sizes: PieceSizes = usualSizes): (text: string) => readonly string[] {
  let scan = nothingScanned
  return (text) => {
    if (!text.startsWith(scan.text)) scan = nothingScanned
    scan = scanLines(scan, text, sizes)
    const { starts, definitions, openFence } = scan
    const pieces = starts.map((start, index) => text.slice(start, starts[index + 1]))
    if (pieces.length === 1 || definitions.length === 0) return pieces
    const shared = `\n\n${definitions.join('\n')}\n`
    return pieces.map((piece, index) => (index === pieces.length - 1 && openFence !== null ? piece : piece + shared))
  }
}

/** Scans the whole lines that were not scanned yet. */
function scanLines(scan: Scan, text: string, sizes: PieceSizes): Scan {
  const starts = [...scan.starts]
  const definitions = [...scan.definitions]
  let { openFence, isAfterBlank } = scan
  let at = scan.text.length
  for (let end = text.indexOf('\n', at); end !== -1; end = text.indexOf('\n', at)) {
    const line = text.slice(at, end)
    const length = at - (starts.at(-1) ?? 0)
    if (openFence === null && length >= sizes.atGap && beginsPiece(line, length, isAfterBlank, sizes)) starts.push(at)
    const marker = fence.exec(line)?.[1] ?? null
    if (openFence === null) openFence = marker
    else if (marker?.startsWith(openFence) && line.trim() === marker) openFence = null
    if (openFence === null && definitions.length < definitionsMax && definition.test(line))
      definitions.push(line.trim())
    isAfterBlank = line.trim() === ''
    at = end + 1
  }
  return { text: text.slice(0, at), starts, openFence, isAfterBlank, definitions }
}

function beginsPiece(line: string, length: number, isAfterBlank: boolean, sizes: PieceSizes): boolean {
  if (/^\s|^$/.test(line)) return false // it may belong to the item before
  if (length >= sizes.atLine) return true
  if (!isAfterBlank) return false
  return length >= sizes.atBlank || !continued.test(line)
}
