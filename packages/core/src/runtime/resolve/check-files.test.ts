import type { BlobHash, Content, Frame } from '@holdfast/protocol'
import { aPdf, aPng, isRecord, say, type TestRuntime } from '@holdfast/testkit'
import { createMemoryBlobs } from 'holdfast/store'
import { describe, expect, it } from 'vitest'
import type { Blobs } from '../../ports/store/blobs.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'

/** Creates blobs that a test can damage. */
function createFragileBlobs() {
  const inner = createMemoryBlobs()
  const bad = new Map<BlobHash, () => ReturnType<Blobs['open']>>()
  const blobs: Blobs = { ...inner, open: (hash) => bad.get(hash)?.() ?? inner.open(hash) }
  return { blobs, bad }
}

const put = async (
  { blobs }: Pick<TestRuntime, 'blobs'>,
  bytes: Uint8Array,
  mediaType: string,
): Promise<Content[number]> => {
  const stored = await blobs.put([bytes])
  if (!stored.ok) throw new Error(stored.fault.message)
  return { type: 'file', blob: stored.value.hash, mediaType, name: 'a.png', bytes: bytes.length }
}
const prompt = (...content: Content) => ({ type: 'sendPrompt' as const, content })
const lastParts = ({ model }: TestRuntime) =>
  model.requests.at(-1)?.messages.flatMap(({ content }): readonly unknown[] => content)
const restedAfter = (seq: number) => (frame: Frame) =>
  isRecord('turn.ended')(frame) && frame.type === 'record' && frame.record.seq > seq

describe('a prompt with a file', () => {
  it.each([
    ['that is a tool’s output', Buffer.from([1, 2, 3, 255]), 'image/png', 'wrong_media_type', /PNG, JPEG/],
    [
      'that is text under the name of an image',
      Buffer.from('words'),
      'image/png',
      'wrong_media_type',
      /is text\/plain/,
    ],
    ['that is a PDF under the name of an image', aPdf, 'image/png', 'wrong_media_type', /is application\/pdf/],
    ['that is an image under the name of text', aPng(), 'text/plain', 'wrong_media_type', /is image\/png/],
    ['that is incomplete', aPng().subarray(0, 20), 'image/png', 'wrong_media_type', /damaged or incomplete/],
    ['that is empty', new Uint8Array(), 'image/png', 'bad_request', /is empty/],
    ['that was never made smaller', aPng(1600, 2), 'image/png', 'too_large', /Store it as a file first/],
    ['that is too large for a request', new Uint8Array(20_000_001), 'image/png', 'too_large', /over 20000000/],
  ])('%s is refused, and the session continues', async (_, bytes, mediaType, code, message) => {
    const runtime = await openMemoryRuntime({ script: [[say('hello')]] })
    const before = await runtime.events()
    const refused = await runtime.send('c1', prompt(await put(runtime, bytes, mediaType)))
    expect(refused).toMatchObject({ ok: false, fault: { code, message: expect.stringMatching(message) } })
    expect(await runtime.events()).toEqual(before)
    expect(await runtime.send('c2', prompt({ type: 'text', text: 'hi' }))).toMatchObject({ ok: true })
    await runtime.frame(isRecord('turn.ended'))
    expect(await runtime.events()).toContain('text.said')
  })

  it('is refused if the image cannot be decoded', async () => {
    const images = { fit: async () => 'damaged' as const }
    const runtime = await openMemoryRuntime({ images })
    expect(await runtime.send('c1', prompt(await put(runtime, aPng(), 'image/png')))).toMatchObject({
      fault: { code: 'wrong_media_type' },
    })
  })

  it('is refused if the file has another size than stated', async () => {
    const runtime = await openMemoryRuntime()
    const file = await put(runtime, aPng(), 'image/png')
    expect(await runtime.send('c1', prompt({ ...file, bytes: 1 } as Content[number]))).toMatchObject({
      fault: { code: 'bad_request', details: { bytes: aPng().length } },
    })
  })

  it('is refused if its files are too large together', async () => {
    const runtime = await openMemoryRuntime()
    const file = await put(runtime, Buffer.alloc(7_000_000, 'words '), 'text/plain')
    expect(await runtime.send('c1', prompt(file, file, file))).toMatchObject({ fault: { code: 'too_large' } })
  })

  it('accepts an alias of a media type and records the proper type', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('hello')]] })
    const file = await put(runtime, aPng(), 'image/X-PNG; q=1')
    expect(await runtime.send('c1', prompt(file))).toMatchObject({ ok: true })
    await runtime.frame(isRecord('turn.ended'))
    expect(lastParts(runtime)).toEqual([
      { type: 'file', mediaType: 'image/png', name: 'a.png', bytes: new Uint8Array(aPng()) },
    ])
  })

  it.each([
    ['is gone', async () => null],
    ['was changed', async () => [Buffer.from(aPng(9, 9))]],
    [
      'cannot be read',
      async () => {
        throw new Error('EIO')
      },
    ],
  ])('sends a note instead when the file %s afterwards', async (_, open) => {
    const { blobs, bad } = createFragileBlobs()
    const runtime = await openMemoryRuntime({ blobs, script: [[say('a')], [say('b')]] })
    const file = await put(runtime, aPng(), 'image/png')
    await runtime.send('c1', prompt(file))
    await runtime.frame(isRecord('turn.ended'))
    if (file.type === 'file') bad.set(file.blob, open as () => ReturnType<Blobs['open']>)
    const second = await runtime.send('c2', prompt({ type: 'text', text: 'and?' }))
    await runtime.frame(restedAfter(second.ok ? second.value.seq : 0))
    expect(lastParts(runtime)).toEqual([
      { type: 'text', text: '[the file a.png is gone]' },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'and?' },
    ])
    expect((await runtime.events()).filter((type) => type === 'text.said')).toHaveLength(2)
    expect(await runtime.send('c3', prompt(file))).toMatchObject({ fault: { code: 'blob_not_found' } })
  })

  it('sends a note for a file that the model does not accept', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('a')]], takes: [] })
    await runtime.send('c1', prompt(await put(runtime, aPng(), 'image/png')))
    await runtime.frame(isRecord('turn.ended'))
    expect(lastParts(runtime)).toEqual([{ type: 'text', text: '[image a.png: this model takes no images]' }])
  })
})
