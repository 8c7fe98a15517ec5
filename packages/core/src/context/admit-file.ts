import { type Fault, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import type { UnfitImage } from '../ports/images.ts'
import { type FileKind, fileKind, latin } from './file-kind.ts'

/** A file that can be sent to a model. */
export type Sendable = Exclude<FileKind, { type: 'broken' }>

const takenKinds = 'PNG, JPEG, GIF and WebP images, PDF files and UTF-8 text can be sent.'

/** Checks by its bytes whether a file can be sent. An image is not decoded here. */
export function admitFile(bytes: Uint8Array, name: string): Result<Sendable> {
  if (bytes.length === 0) return refuse(fault('bad_request', `The file ${name} is empty.`))
  const kind = fileKind(bytes)
  if (kind === null) {
    return refuse(fault('wrong_media_type', `The file ${name} is of a kind that no model reads. ${takenKinds}`))
  }
  if (kind.type === 'broken') return refuse(undecodable(name, kind.mediaType))
  if (kind.type === 'image') {
    if (kind.width * kind.height <= limits.imagePixelsMax) return ok(kind)
    const message = `The image ${name} is ${kind.width}x${kind.height}; ${limits.imagePixelsMax / 1e6} megapixels are the limit.`
    return refuse(fault('too_large', message, { limit: 'imagePixelsMax', pixelsMax: limits.imagePixelsMax }))
  }
  if (bytes.length > limits.fileBytesMax) return refuse(fileTooLarge(name, limits.fileBytesMax))
  if (kind.type === 'pdf') {
    const problem = pdfProblem(bytes)
    if (problem) return refuse(fault('wrong_media_type', `The PDF file ${name} ${problem}`))
  }
  return ok(kind)
}

/** Returns the fault for an image that cannot be sent. */
export function unfitImage(name: string, mediaType: string, why: UnfitImage): Fault {
  switch (why) {
    case 'damaged':
      return undecodable(name, mediaType)
    case 'too large':
      return fileTooLarge(name, limits.imageBytesMax)
    case 'unavailable': {
      const message = `The image ${name} cannot be decoded: the package sharp cannot be loaded. Install it: npm install sharp`
      return fault('wrong_media_type', message, { mediaType })
    }
  }
}

const undecodable = (name: string, mediaType: string): Fault =>
  fault('wrong_media_type', `The file ${name} begins like ${mediaType} but breaks off or is damaged.`, { mediaType })

export const fileTooLarge = (name: string, bytesMax: number): Fault =>
  fault('too_large', `The file ${name} is over ${bytesMax} bytes, the most a model can be sent.`, { bytesMax })

/** Returns why services would refuse a PDF, as far as can be seen without parsing it. */
function pdfProblem(bytes: Uint8Array): string | null {
  if (!latin(bytes, Math.max(0, bytes.length - 2048), bytes.length).includes('%%EOF')) return 'breaks off.'
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = whole.indexOf('/Encrypt'); at !== -1; at = whole.indexOf('/Encrypt', at + 1)) {
    if (/^\/Encrypt\s*(\d+\s+\d+\s+R|<<)/.test(latin(bytes, at, at + 64))) {
      return 'is encrypted. Save it without a password.'
    }
  }
  return null
}
