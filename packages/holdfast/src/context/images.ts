import type { Images } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'

type Sharp = typeof import('sharp')['default']
type Fitted = Awaited<ReturnType<Images['fit']>>

const { imageEdgeMax, imageBytesMax, imagePixelsMax } = limits

/**
 * Decodes images with sharp, on its own threads. Loads sharp with the first image, and decodes one image at a time: a
 * decoded image may take hundreds of megabytes.
 */
export function createImages({ load = loadSharp }: { readonly load?: () => Promise<Sharp> } = {}): Images {
  let loading: Promise<Sharp | null> | null = null
  const oneByOne = createSerialQueue()

  return {
    fit: (bytes, mediaType) =>
      oneByOne(async () => {
        loading ??= load().catch(() => null) // not installed, or built for another platform
        const sharp = await loading
        return sharp ? fitImage(sharp, bytes, mediaType) : 'unavailable'
      }),
  }
}

async function loadSharp(): Promise<Sharp> {
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  sharp.concurrency(1) // leave a core for the event loop
  return sharp
}

async function fitImage(sharp: Sharp, bytes: Uint8Array, mediaType: string): Promise<Fitted> {
  const input = sharp(bytes, { failOn: 'error', limitInputPixels: imagePixelsMax })
  try {
    const { format, autoOrient: from } = await input.metadata()
    if (`image/${format}` !== mediaType) return 'damaged'
    if (Math.max(from.width, from.height) <= imageEdgeMax && bytes.length <= imageBytesMax) {
      await input.raw().toBuffer() // decodes all of it
      return { bytes, mediaType }
    }
    const scaled = input
      .autoOrient()
      .resize({ width: imageEdgeMax, height: imageEdgeMax, fit: 'inside', withoutEnlargement: true })
    for (const encode of encoders(mediaType)) {
      const { data, info } = await encode(scaled.clone()).toBuffer({ resolveWithObject: true })
      if (data.length > imageBytesMax) continue
      const size = (of: { readonly width: number; readonly height: number }) => `${of.width}x${of.height}`
      const newType = `image/${info.format}`
      const converted = newType === mediaType ? '' : ` and made ${newType}`
      const isSmaller = size(from) !== size(info)
      const changed = isSmaller
        ? `downscaled from ${size(from)} to ${size(info)}${converted}`
        : `recompressed${converted}`
      return { bytes: data, mediaType: newType, changed }
    }
  } catch {
    return 'damaged' // sharp's message is about its libraries
  }
  return 'too large'
}

/** Returns the encoders to try: the original format, then WebP, which is smaller and keeps transparency. */
function encoders(mediaType: string): readonly ((image: ReturnType<Sharp>) => ReturnType<Sharp>)[] {
  const asWebp = (image: ReturnType<Sharp>) => image.webp({ quality: 80 })
  if (mediaType === 'image/jpeg') return [(image) => image.jpeg({ quality: 85 }), asWebp]
  if (mediaType === 'image/webp') return [asWebp]
  return [(image) => image.png(), asWebp] // of a GIF, the first picture
}
