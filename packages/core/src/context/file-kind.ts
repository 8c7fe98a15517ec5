import { type Fault, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import type { UnfitImage } from '../ports/images.ts'

type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** The kind of a file. `broken` starts like a known kind but is incomplete. */
type FileKind =
  | { readonly type: 'image'; readonly mediaType: ImageType; readonly width: number; readonly height: number }
  | { readonly type: 'pdf'; readonly mediaType: 'application/pdf' }
  | { readonly type: 'text'; readonly mediaType: 'text/plain' }
  | { readonly type: 'broken'; readonly mediaType: ImageType }

type Size = { readonly width: number; readonly height: number }

/** Detects the kind of a file from its bytes; null when unknown. */
export const fileKind = (bytes: Uint8Array): FileKind | null =>
  markedKind(bytes) ?? (isText(bytes) ? { type: 'text', mediaType: 'text/plain' } : null)

/** Detects kinds that start with a signature, from the first bytes only. */
export function markedKind(bytes: Uint8Array): FileKind | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const image = (mediaType: ImageType, size: Size | null): FileKind =>
    size && size.width > 0 && size.height > 0
      ? { type: 'image', mediaType, width: size.width, height: size.height }
      : { type: 'broken', mediaType }

  if (latin(bytes, 0, 8) === '\x89PNG\r\n\x1a\n') return image('image/png', pngSize(bytes, view))
  if (latin(bytes, 0, 3) === '\xff\xd8\xff') return image('image/jpeg', jpegSize(view))
  if (/^GIF8[79]a$/.test(latin(bytes, 0, 6))) return image('image/gif', gifSize(view))
  if (latin(bytes, 0, 4) === 'RIFF' && latin(bytes, 8, 12) === 'WEBP') return image('image/webp', webpSize(bytes, view))
  if (/^(\xef\xbb\xbf)?\s*%PDF-/.test(latin(bytes, 0, 64))) return { type: 'pdf', mediaType: 'application/pdf' }
  return null
}

/** Decodes bytes as Latin-1, one character each. */
export const latin = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode(...bytes.subarray(from, to))

function isText(bytes: Uint8Array): boolean {
  if (bytes.length === 0 || bytes.includes(0)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

const pngSize = (bytes: Uint8Array, view: DataView): Size | null =>
  view.byteLength >= 24 && latin(bytes, 12, 16) === 'IHDR'
    ? { width: view.getUint32(16), height: view.getUint32(20) }
    : null

const gifSize = (view: DataView): Size | null =>
  view.byteLength >= 10 ? { width: view.getUint16(6, true), height: view.getUint16(8, true) } : null

/** Walks the segments up to the one that starts a frame. */
function jpegSize(view: DataView): Size | null {
  let at = 2
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at += 1 // padding
    } else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += 2 // has no body
    } else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    } else if (marker === 0xd9 || marker === 0xda) {
      return null // the image data begins or ends before a size was found
    } else {
      at += 2 + Math.max(2, view.getUint16(at + 2))
    }
  }
  return null
}

function webpSize(bytes: Uint8Array, view: DataView): Size | null {
  const form = latin(bytes, 12, 16)
  if (view.byteLength < (form === 'VP8L' ? 25 : 30)) return null
  switch (form) {
    case 'VP8 ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    case 'VP8L': {
      const bits = view.getUint32(21, true)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X': {
      const size = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000 + 1
      return { width: size(24), height: size(27) }
    }
    default:
      return null
  }
}

/** A file that can be sent to a model. */
export type Sendable = Exclude<FileKind, { type: 'broken' }>

const acceptedKinds = 'PNG, JPEG, GIF and WebP images, PDF files and UTF-8 text can be sent.'

/** Checks by its bytes whether a file can be sent. An image is not decoded here. */
export function admitFile(bytes: Uint8Array, name: string): Result<Sendable> {
  if (bytes.length === 0) return refuse(fault('bad_request', `The file ${name} is empty.`))
  const kind = fileKind(bytes)
  if (kind === null) {
    return refuse(fault('wrong_media_type', `The file ${name} has a type that no model accepts. ${acceptedKinds}`))
  }
  if (kind.type === 'broken') return refuse(undecodable(name, kind.mediaType))
  if (kind.type === 'image') {
    if (kind.width * kind.height <= limits.imagePixelsMax) return ok(kind)
    const message = `The image ${name} is ${kind.width}x${kind.height}; the limit is ${limits.imagePixelsMax / 1e6} megapixels.`
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
      return fault('missing_package', message, { package: 'sharp', mediaType })
    }
  }
}

const undecodable = (name: string, mediaType: string): Fault =>
  fault('wrong_media_type', `The file ${name} starts like ${mediaType} but is damaged or incomplete.`, { mediaType })

export const fileTooLarge = (name: string, bytesMax: number): Fault =>
  fault('too_large', `The file ${name} is over ${bytesMax} bytes, the largest size that can be sent to a model.`, {
    bytesMax,
  })

/** Returns why services would refuse a PDF, as far as can be seen without parsing it. */
function pdfProblem(bytes: Uint8Array): string | null {
  if (!latin(bytes, Math.max(0, bytes.length - 2048), bytes.length).includes('%%EOF')) return 'is incomplete.'
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = whole.indexOf('/Encrypt'); at !== -1; at = whole.indexOf('/Encrypt', at + 1)) {
    if (/^\/Encrypt\s*(\d+\s+\d+\s+R|<<)/.test(latin(bytes, at, at + 64))) {
      return 'is encrypted. Save it without a password.'
    }
  }
  return null
}
