import { type Content, escapeLine, isTextType, limits, outcomeOutput, properMediaType } from '@holdfast/protocol'
import type { UserPart } from '../ports/provider.ts'
import { markedKind } from './file-kind.ts'
import type { Window, WindowMessage } from './window.ts'

type FilePart = Extract<Content[number], { type: 'file' }>

/** The files a model accepts beside text when its provider does not list them. */
const acceptedByDefault: readonly string[] = ['image/*', 'application/pdf']
/** Providers refuse larger images; older sessions may still contain one. */
const imageEdgeRefused = 8000

/** Whether a file is sent with the request, or why not. */
type FileFate = 'sent' | 'left out' | 'not accepted'

/** Decides from recorded sizes which files of the window are sent: the newest ones, up to a total size. */
export function fatesOf(window: Window, takes = acceptedByDefault): ReadonlyMap<FilePart, FileFate> {
  const fates = new Map<FilePart, FileFate>()
  let bytes = 0
  let files = 0
  for (const part of filesOf(window).toReversed()) {
    const mediaType = properMediaType(part.mediaType)
    if (!isAccepted(mediaType, takes)) {
      fates.set(part, 'not accepted')
      continue
    }
    bytes += isTextType(mediaType) ? Math.min(part.bytes, limits.textFileBytesMax) : part.bytes
    files += 1
    // Once a file is left out, all older ones are, so that the choice rarely changes.
    const fits = bytes <= limits.requestFilesBytesMax && files <= limits.requestFilesMax
    fates.set(part, fits ? 'sent' : 'left out')
  }
  return fates
}

const filesOf = ({ prompt, messages }: Window): readonly FilePart[] =>
  (prompt ? [prompt, ...messages] : messages).flatMap((message) =>
    message.event.type === 'user.said'
      ? message.event.content.filter((part) => part.type === 'file')
      : resultFiles(message),
  )

/** Returns the files in the result of a call. */
export const resultFiles = ({ outcome }: WindowMessage): readonly FilePart[] =>
  outcome === null ? [] : (outcomeOutput(outcome).fileParts ?? [])

const isAccepted = (mediaType: string, takes: readonly string[]): boolean =>
  isTextType(mediaType) || [mediaType, mediaType.replace(/\/.*/, '/*')].some((type) => takes.includes(type))

/** Returns a file as the model gets it: its bytes, its text, or a note why not. */
export function fileForModel(
  part: FilePart,
  fate: FileFate | undefined,
  bytes: Uint8Array | undefined,
  takes = acceptedByDefault,
): UserPart {
  const name = oneLine(part.name ?? part.blob)
  const mediaType = properMediaType(part.mediaType)
  if (fate === 'not accepted') return marker(notAccepted(mediaType, name, takes))
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

function notAccepted(mediaType: string, name: string, takes: readonly string[]): string {
  if (mediaType.startsWith('image/')) {
    const some = takes.some((type) => type.startsWith('image/'))
    return `image ${name}: this model takes no ${some ? mediaType : 'images'}`
  }
  return `file ${name}: this model takes no ${mediaType === 'application/pdf' ? 'PDF files' : oneLine(mediaType)}`
}

/** Returns text in a fence that nothing in it can close. Long text is cut between two characters. */
function fenced(name: string, bytes: Uint8Array): string {
  const shown = bytes.subarray(0, limits.textFileBytesMax)
  // Decodes as a stream, so that a character cut in half is dropped and not replaced.
  const text = new TextDecoder().decode(shown, { stream: shown.length < bytes.length })
  const longest = text.match(/`+/g)?.reduce((most, run) => Math.max(most, run.length), 0) ?? 0
  const fence = '`'.repeat(Math.max(3, longest + 1))
  const whole = `The file ${name}:\n${fence}\n${text}\n${fence}`
  if (shown.length === bytes.length) return whole
  return `${whole}\n[the file ${name} was cut: ${shown.length} of ${bytes.length} bytes are shown]`
}

/** Escapes a name, so that it cannot pass for other text. */
const oneLine = (name: string): string => escapeLine(name.toWellFormed())
