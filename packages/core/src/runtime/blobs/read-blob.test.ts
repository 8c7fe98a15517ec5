import { createHash } from 'node:crypto'
import { BlobHash, orThrow } from '@holdfast/protocol'
import { say } from '@holdfast/testkit'
import { createMemoryBlobs } from 'holdfast/store'
import { describe, expect, it } from 'vitest'
import type { Blobs } from '../../ports/store/blobs.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { talkTo } from '../../testing/talk.ts'
import { checkedBlob } from './read-blob.ts'

const hashOf = (text: string) => BlobHash.parse(createHash('sha256').update(text).digest('hex'))

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

/** Returns the bytes a reader got, and its error. */
async function readOf(hash: BlobHash, bytes: AsyncIterable<Uint8Array>) {
  let text = ''
  try {
    for await (const chunk of checkedBlob(hash, bytes)) text += Buffer.from(chunk).toString()
    return { text, fault: null }
  } catch (fault) {
    return { text, fault }
  }
}

describe('a checked blob', () => {
  it.each([[[]], [['whole']], [['who', 'le']], [['', 'w', 'hole']]])('of %j is returned unchanged', async (texts) => {
    expect(await readOf(hashOf(texts.join('')), pieces(...texts))).toEqual({ text: texts.join(''), fault: null })
  })

  it.each([
    ['a single chunk is not returned', ['whale'], ''],
    ['the last chunk is not returned', ['who', 'l3'], 'who'],
    ['a truncated blob has no last chunk', ['wh', 'o'], 'wh'],
    ['an empty blob is refused', [], ''],
  ])('that is damaged ends with a fault: %s', async (_, texts, given) => {
    const hash = hashOf('whole')
    expect(await readOf(hash, pieces(...texts))).toMatchObject({
      text: given,
      fault: { code: 'storage_error', details: { reason: 'damaged', blob: hash } },
    })
  })

  it('closes its source when its reader stops', async () => {
    let isLeft = false
    async function* bytes() {
      try {
        yield* pieces('a', 'b', 'c')
      } finally {
        isLeft = true
      }
    }
    for await (const _ of checkedBlob(hashOf('abc'), bytes())) break
    expect(isLeft).toBe(true)
  })
})

/** Opens a runtime whose blobs can return other bytes than were stored. */
async function openFragile() {
  const inner = createMemoryBlobs()
  const bad = new Map<string, readonly string[]>()
  const blobs: Blobs = {
    ...inner,
    async open(hash) {
      const pieces = bad.get(hash)
      return pieces ? pieces.map((text) => Buffer.from(text)) : inner.open(hash)
    },
  } as Blobs // an array of chunks is iterable like a stream
  const runtime = await openMemoryRuntime({ blobs, script: () => [say('Hi.')] })
  const stored = orThrow(await blobs.put([Buffer.from('what was stored')]))
  const file = { type: 'file' as const, blob: stored.hash, mediaType: 'text/plain', bytes: stored.bytes }
  await talkTo(runtime.handle).send({ type: 'sendPrompt', content: [file] })
  return { ...runtime, bad, hash: stored.hash }
}

describe('the blobs of a session', () => {
  it('are readable, and those of other sessions are not', async () => {
    const { handle, hash, blobs } = await openFragile()
    const bytes = await Array.fromAsync(orThrow(await handle.blob(hash)))
    expect(Buffer.concat(bytes).toString()).toBe('what was stored')
    const other = orThrow(await blobs.put([Buffer.from('another’s')]))
    for (const unnamed of [other.hash, BlobHash.parse('0'.repeat(64))])
      expect(await handle.blob(unnamed)).toMatchObject({ fault: { code: 'blob_not_found' } })
  })

  it('are refused when damaged, and the rest of the session stays readable', async () => {
    const { handle, hash, bad } = await openFragile()
    bad.set(hash, ['what was st0red'])
    const fault = { code: 'storage_error', details: { reason: 'damaged', blob: hash } }
    expect(await handle.blob(hash)).toMatchObject({ ok: false, fault })
    expect(orThrow(await handle.page()).messages.length).toBeGreaterThan(0)
  })

  it('end with a fault when the damage is found at the end', async () => {
    const { handle, hash, bad } = await openFragile()
    bad.set(hash, ['what was ', 'st0red'])
    const read: string[] = []
    const reading = async () => {
      for await (const chunk of orThrow(await handle.blob(hash))) read.push(Buffer.from(chunk).toString())
    }
    await expect(reading()).rejects.toMatchObject({ code: 'storage_error' })
    expect(read).toEqual(['what was '])
  })
})
