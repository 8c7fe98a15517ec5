import { aPdf, aPng } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createMemoryBlobs } from '../../testing/memory-runtime.ts'
import { storeUpload } from './store-upload.ts'

describe('a stored file', () => {
  const images = { fit: async (bytes: Uint8Array, mediaType: string) => ({ bytes, mediaType, changed: 'turned' }) }
  const createDeps = () => ({ blobs: createMemoryBlobs(), memoryBlobs: createMemoryBlobs(), images })

  it('is returned as a prompt part with its true type and its changes', async () => {
    const stored = await storeUpload(createDeps(), aPng(), { name: 'a.jpg' })
    expect(stored).toMatchObject({
      value: { file: { type: 'file', mediaType: 'image/png', name: 'a.jpg', bytes: aPng().length }, changed: 'turned' },
    })
    expect(await storeUpload(createDeps(), Buffer.from('words'))).toMatchObject({
      value: { file: { mediaType: 'text/plain' } },
    })
  })

  it('is not written to disk for an in-memory session', async () => {
    const deps = createDeps()
    const stored = await storeUpload(deps, aPdf, { persist: false })
    const blob = stored.ok ? stored.value.file.blob : null
    expect(blob && (await deps.blobs.has(blob))).toBe(false)
    expect(blob && (await deps.memoryBlobs.has(blob))).toBe(true)
  })

  it('is refused with a hint to install sharp if images cannot be decoded', async () => {
    const deps = { ...createDeps(), images: { fit: async () => 'unavailable' as const } }
    expect(await storeUpload(deps, aPng(), { name: 'a.png' })).toMatchObject({
      fault: {
        code: 'missing_package',
        details: { package: 'sharp', mediaType: 'image/png' },
        message: 'The image a.png cannot be decoded: the package sharp cannot be loaded. Install it: npm install sharp',
      },
    })
  })

  it.each([
    ['damaged', 'wrong_media_type'],
    ['too large', 'too_large'],
    ['unavailable', 'missing_package'],
  ] as const)('is refused if the image is %s', async (found, code) => {
    const deps = { ...createDeps(), images: { fit: async () => found } }
    expect(await storeUpload(deps, aPng(), { name: 'a.png' })).toMatchObject({ ok: false, fault: { code } })
    expect(await storeUpload(deps, aPng(), { name: 'x'.repeat(300) })).toMatchObject({
      fault: { code: 'bad_request' },
    })
  })
})
