import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@holdfast/core/ports'
import { BlobHash, type Event, StepId, TurnNumber } from '@holdfast/protocol'
import {
  appendTo,
  mustAppend,
  mustCreate,
  newSession,
  recordAt,
  sessionId,
  textSaid,
} from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openJsonlStore } from '../jsonl-store.ts'

let directory = ''
let store: Store
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-uses-'))
  const opened = await openJsonlStore({
    directory,
    now: () => 0,
    entryOf: async () => null,
    onProblem: () => undefined,
  })
  if (!opened.ok) throw new Error(opened.fault.message)
  store = opened.value
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true, force: true })
})

const [a, b] = ['a', 'b'].map((digit) => BlobHash.parse(digit.repeat(64))) as [BlobHash, BlobHash]
const withFile = (blob: BlobHash): Event => ({
  type: 'user.said',
  turn: TurnNumber.parse(0),
  content: [{ type: 'file', blob, mediaType: 'image/png', bytes: 3 }],
})

const used = async (hashes: readonly BlobHash[]) => (await store.blobsInUse())(hashes)

describe('blob uses in JSONL logs', () => {
  it('are found in the records, whatever the batch declares', async () => {
    await mustCreate(store, newSession(1, { records: [recordAt(1, withFile(a))] }))
    expect(await used([a, b])).toEqual(new Set([a]))
    await mustAppend(store, appendTo(1, 1, { records: [recordAt(2, withFile(b))] }))
    expect(await used([a, b])).toEqual(new Set([a, b]))
  })

  it('do not include hashes in message text', async () => {
    await mustCreate(store, newSession(1, { records: [recordAt(1, textSaid(`the hash "${a}" of ${b}`))] }))
    expect(await used([a, b])).toEqual(new Set())
  })

  it('do not include a hash in a call: the blob is kept, but the session may not read it', async () => {
    const call: Event = {
      type: 'call.requested',
      turn: TurnNumber.parse(0),
      step: StepId.parse(1),
      provider: 'demo',
      tool: 'read_file',
      args: { path: b, type: 'user.said', content: [{ type: 'file', blob: b }], blobs: [b] },
    }
    await mustCreate(store, newSession(1, { blobs: [b] }), newSession(2, { records: [recordAt(1, withFile(a))] }))
    await mustAppend(store, appendTo(2, 1, { records: [recordAt(2, call)] }))
    const readable = async (number: number) =>
      Promise.all([a, b].map((hash) => store.refersTo(sessionId(number), hash)))
    expect([await readable(1), await readable(2)]).toEqual([
      [false, true],
      [true, false],
    ])
    await store.release(sessionId(1), 'node-a', 1)
    await store.purge(sessionId(1))
    expect(await used([a, b])).toEqual(new Set([a, b]))
  })

  it('do not include hashes in a damaged line', async () => {
    await mustCreate(store, newSession(1))
    await mustAppend(store, appendTo(1, 1, { records: [recordAt(2, withFile(a))] }))
    const log = join(directory, `${sessionId(1)}.jsonl`)
    writeFileSync(log, readFileSync(log, 'utf8').replace(a, b))
    expect(await store.refersTo(sessionId(1), b)).toBe(false)
    expect(await used([b])).toEqual(new Set([b]))
  })

  it('cannot be listed while a log is unreadable, so nothing is removed', async () => {
    await mustCreate(store, newSession(1, { blobs: [a] }))
    const log = join(directory, `${sessionId(1)}.jsonl`)
    renameSync(log, `${log}.away`)
    await expect(used([a])).rejects.toMatchObject({ code: 'storage_error' })
    renameSync(`${log}.away`, log)
    expect(await used([a])).toEqual(new Set([a]))
  })

  it('are read once per sweep', async () => {
    await mustCreate(store, newSession(1, { blobs: [a] }))
    const areUsed = await store.blobsInUse()
    rmSync(join(directory, `${sessionId(1)}.jsonl`))
    expect([await areUsed([a]), await areUsed([b, a]), await areUsed([b])]).toEqual([
      new Set([a]),
      new Set([a]),
      new Set(),
    ])
  })

  it('include every hash after an abort', async () => {
    await mustCreate(store, newSession(1))
    const areUsed = await store.blobsInUse(AbortSignal.abort())
    expect(await areUsed([a, b])).toEqual(new Set([a, b]))
  })

  it('are the same for concurrent calls and during appends', async () => {
    await mustCreate(store, newSession(1, { blobs: [a] }))
    const appends = Array.from({ length: 20 }, (_, index) => mustAppend(store, appendTo(1, index + 1)))
    const answers = await Promise.all(Array.from({ length: 5 }, () => used([a, b])))
    await Promise.all(appends)
    expect(answers).toEqual(answers.map(() => new Set([a])))
    await store.release(sessionId(1), 'node-a', 1)
    await store.purge(sessionId(1))
    expect(await used([a])).toEqual(new Set())
  })
})
