import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Blobs, ModelRequest, RequestAsked, RequestBuilder, Store } from '@holdfast/core/ports'
import { createRequestBuilder, WindowDamaged } from '@holdfast/core/requests'
import { type Content, Handle, orThrow, type Recorded, type SessionId } from '@holdfast/protocol'
import { aPdf, aPng, createDice, type EventInput, recordsOf, started } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Folded, fold } from '../../../../core/src/runtime/log/load-session.ts'
import { openFileBlobs } from '../../store/blobs/file-blobs.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { newSessionId } from '../../system/identity.ts'
import { createRequestThread, type RequestThread } from './request-thread.ts'

let home = ''
let store: Store
let blobs: Blobs
let here: RequestBuilder
let thread: RequestThread
/** How many requests were put together on this thread though the other one was asked. */
let builtHere = 0

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-requests-'))
  const path = join(home, 'store.db')
  store = orThrow(await openSqliteStore({ path }))
  blobs = orThrow(await openFileBlobs(join(home, 'blobs')))
  here = createRequestBuilder(store, blobs)
  builtHere = 0
  thread = createRequestThread({
    source: { path, blobsDir: join(home, 'blobs') },
    here: {
      ...here,
      build: (asked) => {
        builtHere += 1
        return here.build(asked)
      },
    },
    onProblem: ({ cause }) => {
      throw cause
    },
  })
})
afterEach(async () => {
  await thread.close()
  await store.close()
  rmSync(home, { recursive: true, force: true })
})

/** Asks until the thread is up: before, requests are put together here. */
async function untilUp(asked: RequestAsked): Promise<void> {
  for (let before = -1; before !== builtHere; ) {
    before = builtHere
    await thread.build(asked)
  }
}

type Kept = { readonly id: SessionId; readonly records: readonly Recorded[]; readonly parent?: SessionId | undefined }

/** Writes a log, and returns what would be asked at each of its records. */
async function keep({ id, records, parent }: Kept, number: number): Promise<readonly RequestAsked[]> {
  const folds: Folded[] = []
  for (const record of records) folds.push(fold(folds.at(-1) ?? null, id, record))
  const last = folds.at(-1)?.row.entry
  if (!last) throw new Error('a log has records')
  const entry = { ...last, meta: { ...last.meta, handle: Handle.parse(`kept-log-${number}`) } }
  const encoded = records.map((record) => ({ record, body: JSON.stringify(record.event) }))
  const base = (records[0]?.seq ?? 1) - 1
  const made = { session: id, parent: parent ?? null, base, owner: 'me', records: encoded, entry, blobs: [] }
  orThrow(await store.create(made))
  return folds.map(({ state }) => ({
    session: id,
    line: state.line,
    seq: state.seq,
    checkpoint: state.checkpoint,
    pins: state.pins,
    model: state.settings.model,
    thinkingLevel: state.settings.thinkingLevel,
    system: 'Be kind.',
    tools: [{ name: 'look', description: 'Looks.', input: { type: 'object' } }],
    providerOptions: state.origin?.providerOptions,
  }))
}

/** Builds the request both ways at each record; the results must be equal, with fields in the same order. */
async function compare(asked: readonly RequestAsked[]): Promise<readonly ModelRequest[]> {
  const requests: ModelRequest[] = []
  for (const one of asked) {
    const [there, onThis] = await Promise.all([thread.build(one), here.build(one)])
    expect(inFull(there)).toBe(inFull(onThis))
    requests.push(there)
  }
  return requests
}

const inFull = (request: ModelRequest): string =>
  JSON.stringify(request, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value))

describe('a request built on the thread', () => {
  it('is byte for byte the same at each record of the golden logs', async () => {
    const logs = globSync(resolve(import.meta.dirname, '../../../../../test/golden/*.jsonl')).toSorted()
    const known = logs.map((path): Kept => {
      const id = JSON.parse(readFileSync(path.replace(/[.]jsonl$/, '.fold.json'), 'utf8')).session
      const lines = readFileSync(path, 'utf8').trim().split('\n')
      return { id, records: lines.map((line) => JSON.parse(line)) }
    })
    // Several logs may be of the same session: each is kept under a name of its own.
    const kept = new Map<SessionId, SessionId>()
    let compared = 0
    const longestFirst = known.toSorted((a, b) => seqOf(a) - seqOf(b) || b.records.length - a.records.length)
    for (const [number, { id, records }] of longestFirst.entries()) {
      const own = newSessionId()
      if (!kept.has(id)) kept.set(id, own) // a fork shares records that a shorter log may lack
      const first = records[0]?.event
      const above = first?.type === 'session.started' ? first.fork?.lineage.at(-1)?.session : undefined
      const asked = await keep({ id: own, records, parent: above && kept.get(above) }, number)
      if (number === 0) await untilUp(asked[0] as RequestAsked) // a log has a first record
      compared += (await compare(asked)).length
    }
    expect(logs.map((path) => basename(path))).toContain('fork.jsonl')
    expect(compared).toBeGreaterThan(60)
  })

  it.each([1, 2, 3])(
    'is the same for a log with files that the dice wrote (SEED=%i)',
    { timeout: 120_000 },
    async (seed) => {
      const asked = await keep({ id: newSessionId(), records: await randomLog(seed) }, seed)
      await untilUp(asked[0] as RequestAsked) // a log has a first record
      const before = builtHere
      const requests = await compare(asked)
      expect(builtHere).toBe(before)
      expect(requests.length).toBeGreaterThan(100)
      expect(Math.max(...requests.map(filesOf))).toBeGreaterThan(2)
    },
  )

  it('contains every record that was acknowledged before it', async () => {
    const id = newSessionId()
    const [record] = recordsOf([started])
    if (!record) throw new Error('a log has a first record')
    const [first] = await keep({ id, records: [record] }, 4)
    if (!first) throw new Error('it was asked at each record')
    await untilUp(first)
    let folded = fold(null, id, record)
    for (let said = 0; said < 100; said++) {
      const after = folded.state.seq
      const added = recordsOf(
        [{ type: 'user.said', turn: 0, content: [{ type: 'text', text: `word ${said}` }] }],
        after + 1,
      )
      const records = added.map((record) => ({ record, body: JSON.stringify(record.event) }))
      folded = added.reduce((so, record) => fold(so, id, record), folded)
      const { entry } = folded.row
      const rest = { clearDraft: false, blobs: [], trust: [] }
      orThrow(await store.append({ session: id, after, epoch: 1, records, entry, ...rest }))
      const { messages } = await thread.build({ ...first, line: folded.state.line, seq: folded.state.seq })
      expect(JSON.stringify(messages)).toContain(`word ${said}"`)
    }
  })

  it('is refused with the seq of the unreadable record', async () => {
    const asked = await keep({ id: newSessionId(), records: await randomLog(5) }, 5)
    const last = asked.at(-1) as RequestAsked // a log has a last record
    await untilUp(last)
    const database = new DatabaseSync(join(home, 'store.db'), { timeout: 5000 })
    database.exec(`update record set body = '{}' where seq = ${last.seq - 3}`)
    database.close()
    await expect(here.build(last)).rejects.toThrow(new WindowDamaged(last.seq - 3))
    await expect(thread.build(last)).rejects.toThrow(new WindowDamaged(last.seq - 3))
    await expect(thread.build(last)).rejects.toBeInstanceOf(WindowDamaged)
  })
})

const seqOf = ({ records }: Kept): number => records[0]?.seq ?? 0

const filesOf = ({ messages }: ModelRequest): number =>
  messages.flatMap(({ role, content }) => (role === 'user' ? content.filter(({ type }) => type === 'file') : [])).length

/** People who speak and attach files, the same one again among them, and a model that calls, mid-turn and after cuts. */
async function randomLog(seed: number): Promise<readonly Recorded[]> {
  const dice = createDice(seed)
  const files = await Promise.all(
    [
      { bytes: aPng(2, 3), mediaType: 'image/png' }, // short, so it would be in a shared buffer pool
      { bytes: Buffer.concat([aPng(200, 300), Buffer.alloc(300_000, seed)]), mediaType: 'image/png' },
      { bytes: aPdf, mediaType: 'application/pdf' },
      { bytes: Buffer.from('naïve \u{1f30a} words'), mediaType: 'text/plain' },
    ].map(async ({ bytes, mediaType }) => {
      const { hash } = orThrow(await blobs.put([bytes]))
      return { type: 'file' as const, blob: hash, mediaType, name: `a.${mediaType.slice(-3)}`, bytes: bytes.length }
    }),
  )
  const events: EventInput[] = [started]
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 }
  for (let turn = 0; turn < 12; turn++) {
    const content: Content = [
      { type: 'text', text: `${turn} \ud83c\udf0a`.slice(0, dice.chance(1, 3) ? -1 : undefined) },
    ]
    for (let more = dice.below(3); more > 0; more--) content.push(files[dice.below(files.length)] as (typeof files)[0])
    events.push({ type: 'turn.started', turn, cause: 'prompt' }, { type: 'user.said', turn, content })
    if (dice.chance(1, 4)) events.push({ type: 'message.pinned', message: events.length, pinned: true, tokens: 3 })
    for (let steps = 1 + dice.below(3); steps > 0; steps--) {
      const step = events.length + 1
      events.push({ type: 'step.started', turn, model: 'sim/model', thinkingLevel: 'off', attempt: 1 })
      const meta = { 'holdfast.model': 'agent' }
      events.push({
        type: 'thinking.said',
        turn,
        step,
        text: 'Hm.',
        provider: dice.chance(1, 2) ? 'sim' : 'other',
        meta,
      })
      const call = events.length + 1
      const args = { path: `/${call}`, deep: [{ of: null, half: '\ud83c' }] }
      events.push({ type: 'call.requested', turn, step, tool: 'look around', args, provider: 'sim' })
      events.push({ type: 'step.ended', turn, step, finish: 'calls', usage })
      events.push({
        type: 'call.settled',
        call,
        outcome: { type: 'ok', output: { text: 'x'.repeat(dice.below(9000)) } },
        durationMs: 1,
      })
    }
    events.push({ type: 'turn.ended', turn, reason: 'done' })
    if (dice.chance(1, 5))
      events.push({
        type: 'checkpoint.written',
        turn,
        summary: `So far ${turn}.`,
        keepFrom: events.length - 2,
        tokensBefore: 10,
        tokensAfter: 1,
        why: 'made',
      })
  }
  return recordsOf(events)
}
