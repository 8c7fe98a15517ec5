import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogChain } from './log-chain.ts'
import { createLogFrames } from './log-frames.ts'

let path = ''
let database: DatabaseSync
let file = 0
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'holdfast-chain-')), 'one.db')
  database = new DatabaseSync(path)
  database.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table one (text)')
  write(100)
  file = openSync(`${path}-wal`, 'r')
})
afterEach(() => {
  closeSync(file)
  database.close()
  rmSync(dirname(path), { recursive: true, force: true })
})

function write(rows: number): void {
  for (let row = 0; row < rows; row++) database.exec(`insert into one values (hex(randomblob(500)))`)
}

function follow() {
  const frames = createLogFrames(file)
  frames.follow()
  return frames.known()
}

const [headerBytes, frameBytes] = [32, 24 + 4096]
const never = Number.POSITIVE_INFINITY

describe('the checksums of a write-ahead log', () => {
  it('match while nobody else writes to it, also after a restart of the log', () => {
    const chain = createLogChain(file)
    expect(follow().count).toBeGreaterThan(100)
    expect(chain.verify(follow(), never)).toBe('whole')
    write(10)
    expect(chain.verify(follow(), never)).toBe('whole')
    database.exec('pragma wal_checkpoint(restart)')
    write(10)
    expect(follow().count).toBeLessThan(100)
    expect(chain.verify(follow(), never)).toBe('whole')
  })

  it.each([
    ['the header of the log', 12],
    ['a page number', headerBytes + 50 * frameBytes + 3],
    ['the end of a commit', headerBytes + 50 * frameBytes + 7],
    ['a checksum', headerBytes + 50 * frameBytes + 17],
    ['a page', headerBytes + 50 * frameBytes + 2000],
    ['the last byte', -1],
  ])('do not match if a bit is flipped in %s', (_, offset) => {
    const known = follow()
    const bytes = readFileSync(`${path}-wal`).subarray(0, headerBytes + known.count * frameBytes)
    const at = offset < 0 ? bytes.length + offset : offset
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    const damaged = `${path}-damaged`
    writeFileSync(damaged, bytes)
    const other = openSync(damaged, 'r')
    try {
      expect(createLogChain(other).verify(known, never)).toBe('broken')
    } finally {
      closeSync(other)
    }
  })

  it('are verified in slices', () => {
    const chain = createLogChain(file)
    const known = follow()
    let slices = 1
    while (chain.verify(known, 0) === 'unfinished') slices++
    expect(slices).toBe(Math.ceil(known.count / 64))
  })

  it('count as whole if another process restarted the log and no frame of it is known yet', () => {
    const [chain, known] = [createLogChain(file), follow()]
    expect(chain.verify(known, 0)).toBe('unfinished')
    database.exec('pragma wal_checkpoint(restart)')
    write(1)
    expect(chain.verify(known, 0)).toBe('whole')
  })
})
