import { aGif, aJpeg, anAlphaWebp, aPng, aWebp } from '@holdfast/testkit'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { createImages } from './images.ts'

const images = createImages()

/** Pixels that no codec can pack well. */
function noise(width: number, height: number, channels: 3 | 4 = 3) {
  let state = 1
  const pixels = Buffer.alloc(width * height * channels)
  for (let at = 0; at < pixels.length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    pixels[at] = state >>> 16
  }
  return sharp(pixels, { raw: { width, height, channels } })
}

const sizeOf = async (bytes: Uint8Array) => {
  const { width, height, format } = await sharp(bytes).metadata()
  return `${format} ${width}x${height}`
}

describe('an image', () => {
  it.each([
    ['image/png', aPng()],
    ['image/png', aPng(1568, 1568)],
    ['image/jpeg', aJpeg],
    ['image/gif', aGif],
    ['image/webp', aWebp],
    ['image/webp', anAlphaWebp],
  ])('stays unchanged when every provider accepts it (%s)', async (mediaType, bytes) => {
    expect(await images.fit(bytes, mediaType)).toEqual({ bytes, mediaType })
  })

  it('is scaled down when an edge is too long', async () => {
    const fitted = await images.fit(aPng(6000, 4000), 'image/png')
    expect(fitted).toMatchObject({ mediaType: 'image/png', changed: 'downscaled from 6000x4000 to 1568x1045' })
    expect(typeof fitted === 'string' || (await sizeOf(fitted.bytes))).toBe('png 1568x1045')
  })

  it('is scaled by its displayed orientation, not by its stored one', async () => {
    const turned = await sharp(aPng(3000, 1500)).jpeg().withMetadata({ orientation: 6 }).toBuffer()
    const fitted = await images.fit(turned, 'image/jpeg')
    expect(fitted).toMatchObject({ changed: 'downscaled from 1500x3000 to 784x1568' })
    expect(typeof fitted === 'string' || (await sizeOf(fitted.bytes))).toBe('jpeg 784x1568')
  })

  it('becomes the first frame of a GIF', async () => {
    const fitted = await images.fit(await sharp(aPng(1600, 4)).gif().toBuffer(), 'image/gif')
    expect(fitted).toMatchObject({
      mediaType: 'image/png',
      changed: 'downscaled from 1600x4 to 1568x4 and made image/png',
    })
  })

  it('is recompressed when it has too many bytes', async () => {
    const heavy = await noise(1400, 1400, 4).png().toBuffer()
    const fitted = await images.fit(heavy, 'image/png')
    expect(fitted).toMatchObject({ mediaType: 'image/webp', changed: 'recompressed and made image/webp' })
    expect(typeof fitted === 'string' ? 0 : fitted.bytes.length).toBeLessThan(3_750_000)
  })

  it.each([
    ['breaks off (PNG)', aPng(500, 500).subarray(0, 200), 'image/png'],
    ['breaks off (JPEG)', aJpeg.subarray(0, -20), 'image/jpeg'],
    ['breaks off (WebP)', aWebp.subarray(0, -20), 'image/webp'],
    ['breaks off (GIF)', aGif.subarray(0, 30), 'image/gif'],
    ['is another', aPng(), 'image/jpeg'],
    ['is none', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png'],
  ])('is damaged when it %s', async (_, bytes, mediaType) => {
    expect(await images.fit(bytes, mediaType)).toBe('damaged')
  })

  it('is unavailable when sharp fails to load with the first image', async () => {
    let loads = 0
    const load = () => {
      loads += 1
      return Promise.reject(new Error("Cannot find package 'sharp'"))
    }
    const withoutSharp = createImages({ load })
    expect(loads).toBe(0)
    expect(await withoutSharp.fit(aJpeg, 'image/jpeg')).toBe('unavailable')
    expect(await withoutSharp.fit(aGif, 'image/gif')).toBe('unavailable')
    expect(loads).toBe(1)
  })

  it('does not block the next image when it is damaged', async () => {
    const both = [images.fit(aJpeg.subarray(0, -20), 'image/jpeg'), images.fit(aJpeg, 'image/jpeg')]
    expect(await Promise.all(both)).toEqual(['damaged', { bytes: aJpeg, mediaType: 'image/jpeg' }])
  })
})
