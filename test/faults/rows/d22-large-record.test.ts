import { limits } from '@holdfast/protocol'
import { openTestRuntime } from '@holdfast/testkit'
import { createMemoryBlobs, createMemoryStore, openFileBlobs } from 'holdfast/store'
import { expect, it } from 'vitest'
import { fill } from '../fill.ts'
import { verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'

const scratch = useScratch({ inMemory: true })

it('D22 refuses a prompt above the limit, names the limit and records nothing', async () => {
  const runtime = await openTestRuntime({ store: createMemoryStore(), blobs: createMemoryBlobs() })
  const before = await runtime.events()
  const answer = await runtime.send('cmd-long', { type: 'sendPrompt', content: 'a'.repeat(limits.promptBytesMax + 1) })
  expect(answer).toMatchObject({
    ok: false,
    fault: { code: 'too_large', details: { bytesMax: limits.promptBytesMax } },
  })
  expect(await runtime.events()).toEqual(before)
})

it('D22 blobs: refuses a blob above the limit while it streams, names the limit and leaves no file', async () => {
  const location = scratch.location('blobs')
  await fill(location, 1, 2)
  const blobs = await openFileBlobs(location.directory, { bytesMax: 4096 })
  if (!blobs.ok) throw new Error(blobs.fault.message)
  let asked = 0
  function* endless() {
    for (;;) {
      asked += 1
      yield Buffer.alloc(1024)
    }
  }
  expect(await blobs.value.put(endless())).toMatchObject({ ok: false, fault: { code: 'too_large' } })
  expect(asked).toBeLessThan(10)
  const verdict = await verify({ location, witnesses: [{ log: 1, submitted: 2, acknowledged: 2 }] })
  expect(verdict.violations).toEqual([])
})
