import { type Content, type Fault, fault, isTextType, limits, type SeedMessages } from '@holdfast/protocol'
import { admitFile, fileTooLarge, type Sendable, unfitImage } from '../../context/file-kind.ts'
import { readFile } from '../blobs/read-blob.ts'
import type { EffectDeps } from '../dependencies.ts'

type FilePart = Extract<Content[number], { type: 'file' }>
type Deps = Pick<EffectDeps, 'blobs' | 'images'> & {
  /** Whether the session is in memory only, and its files too. */
  readonly isUnkept: boolean
}

/** The parts of a session's dependencies that know its files. */
export const filesOf = ({ blobs, images, state }: Pick<EffectDeps, 'blobs' | 'images' | 'state'>): Deps => ({
  blobs,
  images,
  isUnkept: state().origin?.persist === false,
})

/** Returns a fault if a file of a prompt cannot be sent: a provider that refuses it would refuse every later request. */
export async function checkFiles(deps: Deps, content: Content): Promise<Fault | null> {
  let bytes = 0
  for (const part of content) {
    if (part.type !== 'file') continue
    const refusal = await refuseFile(deps, part)
    if (refusal) return refusal
    bytes += part.bytes
    if (bytes > limits.requestFilesBytesMax) {
      const message = `The files of a prompt may hold ${limits.requestFilesBytesMax} bytes together. Send some of them later.`
      return fault('too_large', message, { limit: 'requestFilesBytesMax', bytesMax: limits.requestFilesBytesMax })
    }
  }
  return null
}

/** Returns a fault if a file of a message from elsewhere cannot be sent, or its texts are too long. */
export async function refuseSeeds(deps: Deps, messages: SeedMessages): Promise<Fault | null> {
  for (const { role, content } of messages) {
    if (role !== 'user' || typeof content === 'string') continue
    const refusal = refuseText(content) ?? (await checkFiles(deps, content))
    if (refusal) return refusal
  }
  return null
}

/** Returns a fault if the parts of a message, or their texts together, are too many. */
export function refuseText(content: Content): Fault | null {
  const bytes = content.reduce((sum, part) => sum + (part.type === 'text' ? Buffer.byteLength(part.text) : 0), 0)
  if (bytes <= limits.promptBytesMax && content.length <= limits.promptPartsMax) return null
  const message = `A prompt may hold ${limits.promptBytesMax} bytes of text in ${limits.promptPartsMax} parts. Put the rest in a file.`
  return fault('too_large', message, { bytes, bytesMax: limits.promptBytesMax })
}

async function refuseFile({ blobs, images, isUnkept }: Deps, part: FilePart): Promise<Fault | null> {
  const name = part.name ?? part.blob
  const read = await readFile(blobs, part.blob)
  if (typeof read === 'string') return unreadable(read, part, isUnkept)
  const kind = admitFile(read, name)
  if (!kind.ok) return kind.fault
  const wrong = refuseClaim(part, kind.value, read.length)
  if (wrong) return wrong
  if (kind.value.type !== 'image') return null
  if (!isFit(kind.value, read.length)) {
    const message = `The image ${name} is too large for a model. Store it as a file first: it is made smaller then.`
    return fault('too_large', message, { edgeMax: limits.imageEdgeMax, bytesMax: limits.imageBytesMax })
  }
  const decoded = await images.fit(read, kind.value.mediaType)
  return typeof decoded === 'string' ? unfitImage(name, kind.value.mediaType, decoded) : null
}

function unreadable(why: 'gone' | 'damaged' | 'too large', { name, blob }: FilePart, isUnkept: boolean): Fault {
  if (why === 'too large') return fileTooLarge(name ?? blob, limits.fileBytesMax)
  const problem = why === 'gone' ? 'is not stored here' : 'is damaged where it is stored'
  const remedy = isUnkept ? 'Store it with `persist: false`, as the session is.' : 'Store it again.'
  return fault('blob_not_found', `The file ${name ?? blob} ${problem}. ${remedy}`, { blob })
}

/** Refuses a file part whose recorded type or size is wrong. */
function refuseClaim({ name, blob, mediaType, bytes }: FilePart, kind: Sendable, length: number): Fault | null {
  const isTrue = kind.type === 'text' ? isTextType(mediaType) : mediaType === kind.mediaType
  if (!isTrue) {
    const message = `The file ${name ?? blob} is ${kind.mediaType}, not ${mediaType}.`
    return fault('wrong_media_type', message, { blob, mediaType: kind.mediaType })
  }
  if (bytes === length) return null
  return fault('bad_request', `The file ${name ?? blob} holds ${length} bytes, not ${bytes}.`, { blob, bytes: length })
}

const isFit = ({ width, height }: { readonly width: number; readonly height: number }, bytes: number): boolean =>
  Math.max(width, height) <= limits.imageEdgeMax && bytes <= limits.imageBytesMax
