import type { ContentPair } from '@holdfast/core/ports'
import { boundPreview, escapeHidden, escapeLine, limits } from '@holdfast/protocol'
import { maskKeys } from '../../../system/secrets/known-keys.ts'
import { decodeText } from '../../edits/decode-text.ts'
import { unifiedDiff } from '../../edits/unified-diff.ts'

/** Returns the diff of two contents for people: keys masked, hidden characters in lines shown, cut to a bounded length. */
export async function diffPair({ path, from, before, after }: ContentPair): Promise<string> {
  const sizes = [before, after].map((bytes) => bytes?.length ?? 0)
  if (Math.max(...sizes) > limits.previewWholeBytesMax) return notShown(path, 'too large', before, after)
  const [one, other] = [
    before && (await decodeText(Buffer.from(before))),
    after && (await decodeText(Buffer.from(after))),
  ]
  if ((before && !one) || (after && !other)) return notShown(path, 'binary', before, after)
  const diff = unifiedDiff({ path, from, before: one?.text ?? null, after: other?.text ?? null })
  const { preview } = boundPreview({ type: 'diff', path, diff: escapeContent(maskKeys(diff)) })
  return preview.type === 'diff' ? preview.diff : ''
}

/** Escapes hidden characters, except in line ends: without its CR, the diff of a file with CRLF fits no file. */
const escapeContent = (diff: string): string => diff.split('\r\n').map(escapeHidden).join('\r\n')

function notShown(path: string, why: string, before: Uint8Array | null, after: Uint8Array | null): string {
  const size = (bytes: Uint8Array | null) => (bytes === null ? 'no file' : `${bytes.length} bytes`)
  return `${escapeLine(path)}: not shown, it is ${why} (${size(before)} -> ${size(after)})\n`
}
