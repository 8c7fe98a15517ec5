import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { notAborted, openWorkdir } from '../../../../../testkit/src/contracts/tool.ts'
import { previewEdit } from './run-change.ts'

it('lets the event loop turn between the changes of many calls', async () => {
  const { workdir } = await openWorkdir()
  await writeFile(join(workdir, 'f'), '\n'.repeat(1000))
  let turns = 0
  const ends: number[] = []
  const counting = setImmediate(function count() {
    turns++
    next = setImmediate(count)
  })
  let next = counting
  await Promise.all(
    Array.from({ length: 32 }, (_, call) =>
      previewEdit({ type: 'write', workdir, path: 'f', content: `${call}\n` }, notAborted).then(() => ends.push(turns)),
    ),
  )
  clearImmediate(next)
  expect(new Set(ends).size).toBe(32)
})
