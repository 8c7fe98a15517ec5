import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BlobHash } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { notAborted, openWorkdir } from '../../../../../testkit/src/contracts/tool.ts'
import { isSmall, isSmallPair, previewEdit } from './run-change.ts'

it('divides the changes of many calls into slices', async () => {
  const { workdir } = await openWorkdir()
  await writeFile(join(workdir, 'f'), '\n'.repeat(1000))
  let slices = 0
  const ends: number[] = []
  const counting = setImmediate(function count() {
    slices++
    next = setImmediate(count)
  })
  let next = counting
  await Promise.all(
    Array.from({ length: 32 }, (_, call) =>
      previewEdit({ type: 'write', workdir, path: 'f', content: `${call}\n` }, notAborted).then(() =>
        ends.push(slices),
      ),
    ),
  )
  clearImmediate(next)
  expect(new Set(ends).size).toBe(32)
})

it('takes a file with a boundary to a thread if it was large when its lines were counted, though it is small now', async () => {
  const { workdir } = await openWorkdir()
  const small = Buffer.from('one\n'.repeat(100))
  await writeFile(join(workdir, 'f'), small)
  const isHere = async (counted: Uint8Array) => {
    const boundaries = [{ path: 'f', start: 1, end: 2, content: BlobHash.parse('a'.repeat(64)), counted }]
    const pair = { path: 'f', range: { start: 1, end: 2 }, counted, before: small, after: small }
    return [isSmallPair(pair), await isSmall({ type: 'write', workdir, path: './f', content: 'one\n', boundaries })]
  }
  expect(await isHere(small)).toEqual([true, true])
  for (const bytes of [100_000, 200_000]) expect(await isHere(Buffer.alloc(bytes, 'a\n'))).toEqual([false, false])
})
