import type { Images } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'

type Sharp = typeof import('sharp')['default']
type Fitted = Awaited<ReturnType<Images['fit']>>

/** One side of the largest image that is sent, in pixels, and what it may weigh. */
const { imageEdgeMax, imageBytesMax, imagePixelsMax } = limits

/**
 * Images, decoded by sharp on threads of its own. It is loaded with the first image, and works on one at a time: a
 * decoded image may take hundreds of megabytes.
 */
export function createImages({ load = loadSharp }: { readonly load?: () => Promise<Sharp> } = {}): Images {
  let loading: Promise<Sharp | null> | null = null
  const inTurn = createSerialQueue()

  return {
    fit: (bytes, mediaType) =>
      inTurn(async () => {
        loading ??= load().catch(() => null) // built for other machines, or left out when it was installed
        const sharp = await loading
        return sharp ? fitImage(sharp, bytes, mediaType) : 'unavailable'
      }),
  }
}

async function loadSharp(): Promise<Sharp> {
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  sharp.concurrency(1) // the event loop wants a core, too
  return sharp
}

async function fitImage(sharp: Sharp, bytes: Uint8Array, mediaType: string): Promise<Fitted> {
  const input = sharp(bytes, { failOn: 'error', limitInputPixels: imagePixelsMax })
  try {
    const { format, autoOrient: from } = await input.metadata()
    if (`image/${format}` !== mediaType) return 'damaged'
    if (Math.max(from.width, from.height) <= imageEdgeMax && bytes.length <= imageBytesMax) {
      await input.raw().toBuffer() // decodes it to its last line
      return { bytes, mediaType }
    }
    const scaled = input
      .autoOrient()
      .resize({ width: imageEdgeMax, height: imageEdgeMax, fit: 'inside', withoutEnlargement: true })
    for (const encode of encoders(mediaType)) {
      const { data, info } = await encode(scaled.clone()).toBuffer({ resolveWithObject: true })
      if (data.length > imageBytesMax) continue
      const size = (of: { readonly width: number; readonly height: number }) => `${of.width}x${of.height}`
      const packed = `image/${info.format}`
      const turned = packed === mediaType ? '' : ` and made ${packed}`
      const isSmaller = size(from) !== size(info)
      const changed = isSmaller ? `downscaled from ${size(from)} to ${size(info)}${turned}` : `recompressed${turned}`
      return { bytes: data, mediaType: packed, changed }
    }
  } catch {
    return 'damaged' // its words are about libraries and lines of theirs
  }
  return 'too large'
}

/** As it came, and where that weighs too much, as WebP: that keeps what is transparent. */
function encoders(mediaType: string): readonly ((image: ReturnType<Sharp>) => ReturnType<Sharp>)[] {
  const asWebp = (image: ReturnType<Sharp>) => image.webp({ quality: 80 })
  if (mediaType === 'image/jpeg') return [(image) => image.jpeg({ quality: 85 }), asWebp]
  if (mediaType === 'image/webp') return [asWebp]
  return [(image) => image.png(), asWebp] // of a GIF, the first picture
}
