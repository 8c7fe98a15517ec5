import {
  type BlobHash,
  escapeLine,
  fault,
  isSeenWhole,
  ok,
  type Result,
  refuse,
  type SeenFile,
} from '@holdfast/protocol'
import { holdsKey, keyMark } from '../../../system/secrets/known-keys.ts'
import { checkAscii, type DecodedText, encodeText } from '../../edits/encoding.ts'
import { countLines, spliceBetween } from '../../edits/splice.ts'
import { checkNew } from './change-text.ts'
import { type ComputedEdit, wholeText } from './file-edit.ts'

/** Refuses to replace a file that the session does not know as it is. */
export function refuseUnseen(shown: string, known: SeenFile | undefined, hash: BlobHash | null): Result<never> | null {
  if (known === undefined || hash === null)
    return refuse(
      fault(
        'not_seen',
        `${escapeLine(shown)} exists and was not read in this session. Read it first, or use edit_file.`,
      ),
    )
  if (known.hash !== hash)
    return refuse(
      fault('content_changed', `${escapeLine(shown)} changed since it was read. Read it again; nothing was written.`),
    )
  if (isSeenWhole(known)) return null
  return refuse(
    fault('not_seen', `only a part of ${escapeLine(shown)} was read in this session. Read the rest, or use edit_file.`),
  )
}

type WrittenText = Pick<ComputedEdit, 'before' | 'after' | 'firstLine' | 'parts' | 'countLines' | 'changes'>

/** Replaces a text whole. It keeps its encoding, its byte-order mark, and line ends that are all `\r\n`. */
export async function writeText(
  given: string,
  decoded: DecodedText | null,
  shown: string,
): Promise<Result<WrittenText>> {
  const content = decoded?.encoding.bom ? given.replace(/^\ufeff/, '') : given // the mark is kept, and not written twice
  const before = decoded?.text ?? null
  const checked = checkNew(content, before ?? '')
  if (!checked.ok) return checked
  if (content === '' && before !== null && before !== '')
    return refuse(
      fault('bad_request', `content is empty and ${escapeLine(shown)} is not. To remove the file, use delete_file.`),
    )
  // The model was shown a mark in place of a key that is in the file, and would write the mark over the key.
  if (before !== null && content.includes(keyMark) && holdsKey(before))
    return refuse(
      fault('bad_request', `${escapeLine(shown)} holds a key that was shown as ${keyMark}: use edit_file for the rest`),
    )
  const after =
    before !== null && hasOnlyReturns(before) && !content.includes('\r\n') ? content.replaceAll('\n', '\r\n') : content
  const splices = spliceBetween(before ?? '', after)
  const ascii = decoded ? checkAscii(decoded.encoding, splices) : ok(undefined)
  if (!ascii.ok) return ascii
  const encoded = decoded ? await encodeAfter(decoded, after) : ok(Buffer.from(after))
  return encoded.ok ? ok({ before, ...wholeText(after, encoded.value), changes: countLines(splices) }) : encoded
}

const hasOnlyReturns = (text: string): boolean => text.includes('\r\n') && !/(?:^|[^\r])\n/.test(text)

export function encodeAfter({ encoding, text: before }: DecodedText, text: string): Promise<Result<Buffer>> {
  const isTwice = encoding.bom && text.startsWith('\ufeff') && !before.startsWith('\ufeff')
  return encodeText(isTwice ? text.slice(1) : text, encoding)
}
