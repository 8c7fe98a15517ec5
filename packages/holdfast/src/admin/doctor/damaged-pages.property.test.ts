import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { orThrow } from '@holdfast/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openHoldfast } from '../../open.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { fillStore, locationIn } from '../../store/open/testing/a-store.ts'
import { pageBytes, readPageRows } from '../../store/sqlite/repair/table-pages.ts'
import { decompressBody } from '../../store/sqlite/rows/columns.ts'
import { check } from './check-store.ts'

// Many stores are created here: in memory, if there is such a file system.
const home = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'holdfast-pages-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const whole = locationIn(join(home, 'whole'), 'sqlite')
let bytes = Buffer.alloc(0)
/** The pages that each record is on, by what the record says. */
const pagesOf = new Map<string, readonly number[]>()

beforeAll(async () => {
  mkdirSync(join(home, 'whole'))
  await fillStore(whole, join(home, 'aside'))
  const holdfast = await openHoldfast({
    store: whole.url,
    environment: { HOLDFAST_HOME: join(home, 'aside'), DEMO_PACE: '0' },
  })
  const random = createRandom(0)
  for (let number = 0; number < 12; number++) {
    const session = await holdfast.startSession({ workdir: home, title: `T${number}` })
    for (let turn = 0; turn < 4; turn++) {
      const letters = Array.from({ length: turn === 3 ? 8000 : 600 }, () => random(36).toString(36)).join('')
      const content = `question ${number}-${turn} ${letters}`
      await session.seedMessages([
        { role: 'user', content },
        { role: 'assistant', content: `answer ${number}` },
      ])
    }
  }
  await holdfast.close()
  bytes = readFileSync(whole.path)
  const listed = new Set(recordsIn(whole))
  for (let page = 1; page <= bytes.length / pageBytes; page++) {
    let read: number[] = []
    const readPage = (number: number) => {
      read.push(number)
      if (number < 1 || number * pageBytes > bytes.length) return null
      return bytes.subarray((number - 1) * pageBytes, number * pageBytes)
    }
    for (const { values } of readPageRows(page, readPage)) {
      const name = values.length === 11 ? nameOf(values.slice(2)) : ''
      if (listed.has(name)) pagesOf.set(name, [page, ...read])
      read = []
    }
  }
  expect(pagesOf.size).toBe(listed.size)
})

/** A session may get a new id, so a record is known by what it says. */
const nameOf = ([seq, at, type, , , , , , body]: readonly unknown[]): string =>
  [seq, at, type, decompressBody(body)].join(' ')

function recordsIn({ path }: DiskLocation): readonly string[] {
  using database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare('select seq, at, type, v, client, command_id, ref, crc, body from record').all()
  return rows.map((row) => nameOf(Object.values(row)))
}

/** Returns the records of sessions that cannot be opened any more, which a repair keeps in the quarantine. */
function keptAside({ path }: DiskLocation): readonly string[] {
  const aside = `${path}.quarantine`
  const lines = readdirSync(aside)
    .filter((name) => name.startsWith('ses_'))
    .flatMap((name) => readFileSync(join(aside, name), 'utf8').trim().split('\n'))
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>) // as they were written
    .map(({ seq, at, type, body }) => nameOf([seq, at, type, '', '', '', '', '', body]))
}

/** Returns a generator of pseudo-random numbers below a limit. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type Damage = { readonly damaged: Buffer; readonly what: string }

/** Overwrites some pages; then cuts the file, or damages its header, or neither. */
function damage(seed: number): Damage {
  const random = createRandom(seed)
  const pages = bytes.length / pageBytes
  const damaged = Buffer.from(bytes)
  const overwritten = Array.from({ length: random(pages / 3) }, () => 1 + random(pages))
  for (const page of overwritten)
    for (let at = (page - 1) * pageBytes; at < page * pageBytes; at++) damaged[at] = random(256)
  const kind = seed % 3
  if (kind === 0) for (let count = 1 + random(8); count > 0; count--) damaged[random(100)] = random(256)
  const left = kind === 1 ? pageBytes * 8 + random(bytes.length - pageBytes * 8) : bytes.length
  return { damaged: damaged.subarray(0, left), what: `seed ${seed}: pages ${overwritten.join(' ')}, ${left} bytes` }
}

const locationOf = (name: string): DiskLocation => {
  const directory = join(home, name)
  cpSync(join(home, 'whole'), directory, { recursive: true })
  return locationIn(directory, 'sqlite')
}

/** `npm run test:faults` tests more of them. */
const seeds = process.env['FAULTS_ALL'] === '1' ? Array.from({ length: 100 }, (_, index) => index) : [6, 13, 17]

describe('repair of a SQLite store with many damaged pages', () => {
  it.each(seeds)('keeps every record on readable pages, and the file as it was (seed %i)', async (seed) => {
    const { damaged, what } = damage(seed)
    const location = locationOf(`seed-${seed}`)
    writeFileSync(location.path, damaged)
    const isReadable = (page: number): boolean => {
      const [from, end] = [(page - 1) * pageBytes, page * pageBytes]
      return end <= damaged.length && damaged.subarray(from, end).equals(bytes.subarray(from, end))
    }
    const readable = [...pagesOf].filter(([, pages]) => pages.every(isReadable)).map(([name]) => name)

    const report = orThrow(await check(location, { repair: true }))
    if (report.findings[0]?.code === 'unusable') {
      expect([readable, readFileSync(location.path).equals(damaged)], what).toEqual([[], true])
      return
    }

    const found = new Set([...recordsIn(location), ...keptAside(location)])
    expect(readable.filter((name) => !found.has(name)).length, what).toBe(0)
    const aside = `${location.path}.quarantine`
    expect(
      readdirSync(aside).some((name) => readFileSync(join(aside, name)).equals(damaged)),
      what,
    ).toBe(true)
    const left = report.findings.filter(({ repaired, severity }) => !repaired && severity !== 'info')
    // Neither the parent of a fork nor a record that others need can be invented.
    expect(
      left.filter(({ code }) => !['lineage', 'unfoldable', 'missing_blob'].includes(code)),
      what,
    ).toEqual([])
    rmSync(join(home, `seed-${seed}`), { recursive: true })
  })
})
