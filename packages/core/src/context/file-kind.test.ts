import { aGif, aJpeg, anAlphaWebp, aPdf, aPng, aWebp, aWebpWithoutLoss } from '@holdfast/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { admitFile, fileKind } from './file-kind.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const size = { width: 2, height: 3 }

describe('a file is recognized by its bytes', () => {
  it.each([
    ['PNG', aPng(), { type: 'image', mediaType: 'image/png', ...size }],
    ['JPEG', aJpeg, { type: 'image', mediaType: 'image/jpeg', ...size }],
    ['GIF', aGif, { type: 'image', mediaType: 'image/gif', ...size }],
    ['WebP', aWebp, { type: 'image', mediaType: 'image/webp', ...size }],
    ['lossless WebP', aWebpWithoutLoss, { type: 'image', mediaType: 'image/webp', ...size }],
    ['WebP with transparency', anAlphaWebp, { type: 'image', mediaType: 'image/webp', ...size }],
    ['PDF', aPdf, { type: 'pdf', mediaType: 'application/pdf' }],
    ['text', bytes('Grüße\n'), { type: 'text', mediaType: 'text/plain' }],
    ['text that mentions PDF', bytes('It begins with %PDF-1.4'), { type: 'text', mediaType: 'text/plain' }],
    ['half a PNG header', aPng().subarray(0, 20), { type: 'broken', mediaType: 'image/png' }],
    ['half a JPEG header', aJpeg.subarray(0, 80), { type: 'broken', mediaType: 'image/jpeg' }],
    ['half a WebP header', aWebp.subarray(0, 20), { type: 'broken', mediaType: 'image/webp' }],
    ['a PNG of no height', aPng(2, 0), { type: 'broken', mediaType: 'image/png' }],
    ['an archive', bytes('PK\x03\x04\0\0'), null],
    ['what is not UTF-8', new Uint8Array([0x68, 0xff, 0x69]), null],
    ['text with a NUL', bytes('a\0b'), null],
    ['nothing', new Uint8Array(), null],
  ])('%s', (_, file, kind) => {
    expect(fileKind(file)).toEqual(kind)
  })

  it('reads a size behind other segments of a JPEG, padding and markers without a body', () => {
    const comment = [0xff, 0xfe, 0, 4, 0xff, 0xc0]
    const behind = new Uint8Array([...aJpeg.subarray(0, 2), ...comment, 0xff, 0xff, 0x01, ...aJpeg.subarray(2)])
    expect(fileKind(behind)).toMatchObject({ type: 'image', ...size })
  })

  it('never throws, for any bytes and any incomplete file', () => {
    const marks = [aPng(), aJpeg, aGif, aWebp, aWebpWithoutLoss, anAlphaWebp, aPdf].map((file) => [...file])
    const begun = fc
      .tuple(fc.constantFrom(...marks), fc.nat(64), fc.uint8Array({ maxLength: 200 }))
      .map(([mark, kept, rest]) => new Uint8Array([...mark.slice(0, kept), ...rest]))
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), begun), (file) => {
        const admitted = admitFile(file, 'a')
        if (!admitted.ok) expect(admitted.fault.message).toMatch(/^The .* a /)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a file is refused', () => {
  it.each([
    ['when it is empty', new Uint8Array(), 'bad_request', /is empty/],
    ['when no model reads its kind', bytes('PK\x03\x04\0'), 'wrong_media_type', /PNG, JPEG, GIF and WebP/],
    ['when its header is incomplete', aPng().subarray(0, 20), 'wrong_media_type', /starts like image\/png/],
    ['when it would decode to too many pixels', hugePng(), 'too_large', /is 20000x20000; the limit is 100 megapixels/],
    ['when it is an incomplete PDF', aPdf.subarray(0, 150), 'wrong_media_type', /is incomplete/],
    [
      'when it is an encrypted PDF',
      bytes('%PDF-1.4\ntrailer<</Root 1 0 R/Encrypt 5 0 R>>\n%%EOF'),
      'wrong_media_type',
      /is encrypted/,
    ],
    ['when it is more text than fits any request', new Uint8Array(20_000_001).fill(97), 'too_large', /over 20000000/],
  ])('%s', (_, file, code, message) => {
    expect(admitFile(file, 'a.png')).toMatchObject({
      ok: false,
      fault: { code, message: expect.stringMatching(message) },
    })
  })
})

/** Builds a small file whose header states a large size. */
function hugePng(): Uint8Array {
  const png = Buffer.from(aPng())
  png.writeUInt32BE(20_000, 16)
  png.writeUInt32BE(20_000, 20)
  return png
}
