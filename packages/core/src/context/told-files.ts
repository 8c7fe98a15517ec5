import { type Content, escapeLine, isTextType, limits, properMediaType } from '@holdfast/protocol'
import type { UserPart } from '../ports/provider.ts'
import { markedKind } from './file-kind.ts'
import type { Window } from './window.ts'

type FilePart = Extract<Content[number], { type: 'file' }>

/** What a model takes beside text when its provider does not say. */
const takenByDefault: readonly string[] = ['image/*', 'application/pdf']
/** Beyond this edge a provider refuses an image that older sessions let in. */
const imageEdgeRefused = 8000

/** Whether a file goes with the request, or why not. */
export type FileFate = 'sent' | 'left out' | 'not taken'

/**
 * What becomes of each file of the window. A request holds so many bytes of files and no more: the newest are sent. The
 * sizes are those on record, so it is known before a byte is read.
 */
export function fatesOf(window: Window, takes = takenByDefault): ReadonlyMap<FilePart, FileFate> {
  const fates = new Map<FilePart, FileFate>()
  let bytes = 0
  let files = 0
  for (const part of filesOf(window).toReversed()) {
    const mediaType = properMediaType(part.mediaType)
    if (!isTaken(mediaType, takes)) {
      fates.set(part, 'not taken')
      continue
    }
    bytes += isTextType(mediaType) ? Math.min(part.bytes, limits.textFileBytesMax) : part.bytes
    files += 1
    // Once one is left out, all older ones are: which these are changes as seldom as can be.
    const fits = bytes <= limits.requestFilesBytesMax && files <= limits.requestFilesMax
    fates.set(part, fits ? 'sent' : 'left out')
  }
  return fates
}

const filesOf = ({ prompt, messages }: Window): readonly FilePart[] =>
  (prompt ? [prompt, ...messages] : messages).flatMap(({ event }) =>
    event.type === 'user.said' ? event.content.filter((part) => part.type === 'file') : [],
  )

const isTaken = (mediaType: string, takes: readonly string[]): boolean =>
  isTextType(mediaType) || takes.some((taken) => taken === mediaType || taken === mediaType.replace(/\/.*/, '/*'))

/** A file as the model is told of it: its bytes, its text, or a word on why not. */
export function fileForModel(
  part: FilePart,
  fate: FileFate | undefined,
  bytes: Uint8Array | undefined,
  takes = takenByDefault,
): UserPart {
  const name = oneLine(part.name ?? part.blob)
  const mediaType = properMediaType(part.mediaType)
  if (fate === 'not taken') return marker(notTaken(mediaType, name, takes))
  if (fate !== 'sent') return marker(`the file ${name} was left out: the request would be too large`)
  if (!bytes) return marker(`the file ${name} is gone`)
  const kind = markedKind(bytes)
  if (isTextType(mediaType)) return kind ? unreadable(name) : { type: 'text', text: fenced(name, bytes) }
  if (!kind || kind.type === 'broken' || kind.mediaType !== mediaType) return unreadable(name)
  const isTooLarge =
    kind.type === 'image'
      ? bytes.length > limits.imageBytesMax || Math.max(kind.width, kind.height) > imageEdgeRefused
      : bytes.length > limits.fileBytesMax
  if (isTooLarge) return marker(`the file ${name} was left out: it is too large for any model`)
  return { type: 'file', mediaType: kind.mediaType, ...(part.name !== undefined && { name }), bytes }
}

const marker = (text: string): UserPart => ({ type: 'text', text: `[${text}]` })
const unreadable = (name: string): UserPart => marker(`the file ${name} cannot be read`)

function notTaken(mediaType: string, name: string, takes: readonly string[]): string {
  if (mediaType.startsWith('image/')) {
    const some = takes.some((taken) => taken.startsWith('image/'))
    return `image ${name}: this model takes no ${some ? mediaType : 'images'}`
  }
  return `file ${name}: this model takes no ${mediaType === 'application/pdf' ? 'PDF files' : oneLine(mediaType)}`
}

/** Text in a fence that nothing in it can close. What is too long is cut at its end, between two characters. */
function fenced(name: string, bytes: Uint8Array): string {
  const shown = bytes.subarray(0, limits.textFileBytesMax)
  // As if more came, so that half a character at the cut is dropped rather than replaced.
  const text = new TextDecoder().decode(shown, { stream: shown.length < bytes.length })
  const longest = text.match(/`+/g)?.reduce((most, run) => Math.max(most, run.length), 0) ?? 0
  const fence = '`'.repeat(Math.max(3, longest + 1))
  const cut =
    shown.length < bytes.length
      ? `\n[the file ${name} was cut: ${shown.length} of ${bytes.length} bytes are shown]`
      : ''
  return `The file ${name}:\n${fence}\n${text}\n${fence}${cut}`
}

/** A name must not pass for anything else. */
const oneLine = (name: string): string => escapeLine(name.toWellFormed())
