import { clip, escapeLine, type LineRange, ok } from '@holdfast/protocol'
import { checkTexts, findBoundary } from '../../edits/boundary.ts'
import { decodeText } from '../../edits/decode-text.ts'
import { unifiedDiff } from '../../edits/unified-diff.ts'

const diffCharsMax = 4000

/** A file with an edit boundary before and after a command. Plain data, which can be sent to a thread. */
export type BoundedPair = {
  readonly path: string
  readonly range: LineRange
  /** The content that the lines were counted in; null if it is not known. */
  readonly counted: Uint8Array | null
  readonly before: Uint8Array
  readonly after: Uint8Array
}

/** Where the lines of the boundary are after the command, or what it did that it may not. */
export type BoundedVerdict = { readonly range: LineRange } | { readonly violation: string }

/** Judges what a command did to a file with an edit boundary. */
export async function judgePair({ path, range, counted, before, after }: BoundedPair): Promise<BoundedVerdict> {
  const decode = (bytes: Uint8Array) => decodeText(Buffer.from(bytes))
  const [one, other] = [await decode(before), await decode(after)]
  if (!one || !other) return { violation: `${escapeLine(path)} is no longer a text` }
  const known = counted && (await decode(counted))
  const at = known ? findBoundary(path, range, known.text, one.text) : ok(range)
  const judged = at.ok ? checkTexts(path, at.value, one.text, other.text) : at
  if (judged.ok) return { range: judged.value }
  const diff = clip(unifiedDiff({ path, before: one.text, after: other.text }), diffCharsMax)
  return { violation: `${judged.fault.message}\n${diff}` }
}
