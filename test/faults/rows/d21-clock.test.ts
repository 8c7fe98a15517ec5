import { mkdirSync } from 'node:fs'
import type { Store } from '@holdfast/core/ports'
import { createVirtualClock, isRecord, openTestRuntime, say } from '@holdfast/testkit'
import { createMemoryBlobs } from 'holdfast/store'
import { expect, it } from 'vitest'
import { verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { evidenceOf } from '../session-evidence.ts'
import { openStore } from '../subject/store.ts'
import { digestOf } from '../workload.ts'

const scratch = useScratch({ inMemory: true })

/** Jumps forward, back by years, over the repeated hour, beyond 32 bits, and back again. */
const moments = [
  '2026-10-25T00:59:59.999Z',
  '2026-10-25T00:00:00.000Z',
  '2001-09-09T01:46:40.000Z',
  '2041-01-19T03:14:08.000Z',
  '1970-01-02T00:00:00.000Z',
]

it.each(['sqlite', 'jsonl'] as const)('D21 %s: keeps the order of seqs when the clock jumps', async (kind) => {
  const location = scratch.location(kind)
  mkdirSync(location.directory, { mode: 0o700 })
  const blobs = createMemoryBlobs()
  const open = async (): Promise<Store> => {
    const opened = await openStore(kind, location.directory)
    if (!opened.ok) throw new Error(opened.fault.message)
    return opened.value
  }
  const digests: string[] = []
  let session: Parameters<Store['read']>[0] | null = null
  for (const [life, moment] of moments.entries()) {
    const store = await open()
    const clock = createVirtualClock(Date.parse(moment))
    const runtime = await openTestRuntime({
      store,
      blobs,
      clock,
      node: `node-${life}`,
      living: [`node-${life}`],
      takesOver: life > 0,
      script: [[say(`answer ${life}`)]],
    })
    session ??= runtime.handle.id
    const before = (await store.entry(session))?.head ?? 0
    expect(await runtime.send(`cmd-${life}`, { type: 'sendPrompt', content: `prompt ${life}` })).toMatchObject({
      ok: true,
    })
    await runtime.frame((frame) => {
      if (frame.type !== 'record' || frame.record.seq <= digests.length) return false
      digests.push(digestOf(frame.record))
      return isRecord('turn.ended')(frame) && frame.record.seq > before
    })
    await runtime.registry.close()
    await store.close()
  }

  const store = await open()
  if (session === null) throw new Error('there is a session')
  const records = await store.read(session, { after: 0, limit: 1000 })
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1))
  const prompts = records.flatMap((record) =>
    !('lost' in record) && record.event.type === 'user.said' ? [JSON.stringify(record.event)] : [],
  )
  expect(prompts.map((text) => /prompt \d/.exec(text)?.[0])).toEqual(moments.map((_, life) => `prompt ${life}`))
  const sessions = [await evidenceOf(store, blobs, session)]
  await store.close()
  const verdict = await verify({ location, shown: [{ session, after: 0, digests }], sessions })
  const onlyFiles = kind === 'jsonl' ? [7] : []
  expect(verdict).toEqual({ checked: [1, 3, 5, 6, ...onlyFiles, 8, 9], violations: [] })
})
