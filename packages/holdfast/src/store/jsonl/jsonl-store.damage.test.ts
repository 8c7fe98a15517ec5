import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReadRecord, Store } from '@holdfast/core/ports'
import { CommandId } from '@holdfast/protocol'
import { createDice } from '@holdfast/testkit'
import {
  appendTo,
  mustAppend,
  mustCreate,
  newSession,
  readAll,
  recordAt,
  sessionId,
  textSaid,
  textsAfter,
} from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openJsonlStore } from './jsonl-store.ts'

let home = ''
let directory = ''
let whole: Buffer = Buffer.alloc(0)
let written: readonly ReadRecord[] = []
const problems: unknown[] = []
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-damage-'))
  directory = join(home, 'logs')
  problems.length = 0
  const store = await open()
  await mustCreate(store, newSession(1, { records: textsAfter(0, 'a') }))
  await mustAppend(store, appendTo(1, 1, { records: textsAfter(1, 'b', 'c \u{1F40B}') }))
  const named = [recordAt(4, textSaid('d'), { commandId: CommandId.parse('cmd-d') }), ...textsAfter(4, 'e')]
  await mustAppend(store, appendTo(1, 3, { records: named }))
  written = await readAll(store, 1)
  await store.close()
  whole = readFileSync(log())
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const log = (at = directory) => join(at, `${sessionId(1)}.jsonl`)

async function open(at = directory): Promise<Store> {
  const onProblem = (problem: unknown) => void problems.push(problem)
  const opened = await openJsonlStore({ directory: at, now: () => 0, entryOf: async () => null, onProblem })
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

/** Returns the end offset of each line, including its line break. */
function endsOf(bytes: Buffer): readonly number[] {
  const ends: number[] = []
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) ends.push(at + 1)
  return ends
}
const torn = (at = directory) => readdirSync(at).filter((name) => name.includes('.torn-'))
const withoutCatalogue = (at = directory) => rmSync(join(at, 'catalogue.jsonl'), { force: true })

describe('truncated log', () => {
  it.each([true, false])(
    'returns the complete batches before any cut, with its catalogue: %s',
    async (hasCatalogue) => {
      const [header = 0, one = 0, , two = 0, , three = 0] = endsOf(whole)
      const headAt = (offset: number) => (offset < two - 1 ? 1 : offset < three - 1 ? 3 : 5)
      const step = 37 // every byte takes minutes; the ends of lines are what matters
      const nearEnds = endsOf(whole).flatMap((end) => [end - 2, end - 1, end, end + 1])
      const offsets = Array.from({ length: whole.length + 1 }, (_, index) => index).filter(
        (offset) => offset >= one - 1 && offset <= whole.length && (offset % step === 0 || nearEnds.includes(offset)),
      )
      expect(header).toBeLessThan(one)
      for (const offset of offsets) {
        const at = join(home, `cut-${offset}`)
        cpSync(directory, at, { recursive: true })
        if (!hasCatalogue) withoutCatalogue(at)
        writeFileSync(log(at), whole.subarray(0, offset))

        const store = await open(at)
        const head = headAt(offset)
        expect(await readAll(store, 1), `cut at ${offset}`).toEqual(written.slice(0, head))
        await store.close()
        const kept = torn(at).map((name) => readFileSync(join(at, name)))
        expect(Buffer.concat([readFileSync(log(at)), ...kept])).toEqual(whole.subarray(0, offset))

        const again = await open(at)
        await mustAppend(again, appendTo(1, head, { records: textsAfter(head, 'next') }))
        expect(await readAll(again, 1)).toMatchObject([...written.slice(0, head), { seq: head + 1 }])
        await again.close()
        rmSync(at, { recursive: true })
      }
    },
  )

  it.each([
    ['zeros', Buffer.alloc(700)],
    ['noise', Buffer.from(Array.from({ length: 700 }, (_, index) => (index * 97) % 256))],
    ['half a character', Buffer.from('{"seq":6,"at":"\u{1F40B}').subarray(0, -2)],
    ['half an escape', Buffer.from('{"seq":6,"event":{"text":"\\ud83d\\u')],
    ['a line of no record', Buffer.from('{"seq":6}\n')],
  ])('is distinguished from acknowledged data when %s follow it', async (_, tail) => {
    writeFileSync(log(), Buffer.concat([whole, tail]))
    const store = await open()
    expect(await readAll(store, 1)).toEqual(written)
    expect(torn().map((name) => readFileSync(join(directory, name)))).toEqual([tail])
    expect(problems).toHaveLength(1)
    await mustAppend(store, appendTo(1, 5))
    await store.close()
    copyFileSync(log(), `${log()}.copy`)
    const again = await open()
    expect((await readAll(again, 1)).length).toBe(6)
    expect(readFileSync(log())).toEqual(readFileSync(`${log()}.copy`))
    expect(torn()).toHaveLength(1)
    await again.close()
  })

  it('moves each tail to its own file', async () => {
    for (const text of ['one', 'two']) {
      writeFileSync(log(), Buffer.concat([whole, Buffer.from(text)]))
      await (await open()).close()
    }
    expect(torn().map((name) => readFileSync(join(directory, name), 'utf8'))).toEqual(['one', 'two'])
  })
})

describe('log with a damaged byte', () => {
  it('reads a damaged record as lost and still reads all that follow', async () => {
    const dice = createDice(Number(process.env['SEED'] ?? 1))
    const ends = endsOf(whole)
    for (let round = 0; round < 60; round++) {
      const place = dice.below(whole.length)
      const flipped = Buffer.from(whole)
      flipped[place] = (flipped[place] ?? 0) ^ (1 << dice.below(8))
      writeFileSync(log(), flipped)
      const store = await open()
      const line = ends.findIndex((end) => place < end)
      const isBreak = ends.includes(place + 1)
      const records = await readAll(store, 1)
      expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
      const lost = records.filter((record) => 'lost' in record).map(({ seq }) => seq)
      if (!isBreak) expect(lost, `bit flipped at ${place}`).toEqual(line === 0 ? [] : [line])
      for (const record of records) if (!('lost' in record)) expect(record).toEqual(written[record.seq - 1])
      expect(readFileSync(log())).toEqual(flipped)
      await store.close()
    }
  })

  it('accepts appends after the damage, on a new line', async () => {
    const flipped = Buffer.from(whole)
    flipped[whole.length - 1] = 0x20
    writeFileSync(log(), flipped)
    const store = await open()
    await mustAppend(store, appendTo(1, 5))
    await store.close()
    const again = await open()
    expect(await readAll(again, 1)).toMatchObject([...written.slice(0, 4), { seq: 5, lost: true }, { seq: 6 }])
    await again.close()
  })

  it('reads its records without a first line and a catalogue', async () => {
    const flipped = Buffer.from(whole)
    flipped[30] = (flipped[30] ?? 0) ^ 1
    writeFileSync(log(), flipped)
    withoutCatalogue()
    const store = await open()
    expect(await readAll(store, 1)).toEqual(written)
    expect((await store.list({ limit: 9 })).sessions).toHaveLength(1)
    await store.close()
  })

  it('rejects a repeated command whose record is damaged', async () => {
    const [, , , third = 0] = endsOf(whole)
    const store = await open()
    expect(await store.findCommand(sessionId(1), CommandId.parse('cmd-d'))).toMatchObject({ seq: 4 })
    const flipped = Buffer.from(whole)
    flipped[third + 40] = (flipped[third + 40] ?? 0) ^ 1
    writeFileSync(log(), flipped)
    await expect(store.findCommand(sessionId(1), CommandId.parse('cmd-d'))).rejects.toMatchObject({
      code: 'log_damaged',
    })
    await store.close()
  })
})
