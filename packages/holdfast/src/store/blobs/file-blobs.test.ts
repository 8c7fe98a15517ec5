import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Blobs } from '@holdfast/core/ports'
import { type BlobHash, orThrow } from '@holdfast/protocol'
import { blobTestBytesMax, describeBlobs } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openFileBlobs } from './file-blobs.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-blobs-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

async function open(directory = join(home, 'blobs')): Promise<Blobs> {
  const opened = await openFileBlobs(directory, { bytesMax: blobTestBytesMax })
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

const filesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())

describeBlobs('file', () => open())

describe('file blobs', () => {
  const aDay = 24 * 60 * 60 * 1000
  const none = async () => new Set<BlobHash>()

  it('remove old drafts of dead processes in a sweep, and no newer ones', async () => {
    const blobs = await open()
    const old = new Date(Date.now() - 2 * aDay)
    for (const name of ['new-dead', 'new-alive']) writeFileSync(join(home, 'blobs', name), 'half')
    utimesSync(join(home, 'blobs', 'new-dead'), old, old)
    await blobs.sweep(none, { now: Date.now(), graceMs: aDay, dryRun: true })
    expect(filesIn(home).map(({ name }) => name)).toEqual(expect.arrayContaining(['new-alive', 'new-dead']))
    await blobs.sweep(none, { now: Date.now(), graceMs: aDay })
    expect(filesIn(home).map(({ name }) => name)).toEqual(['new-alive'])
  })

  it('find a blob that was set aside, after a restart and from another process', async () => {
    const [first, other] = [await open(), await open()]
    const { hash } = orThrow(await first.put([Buffer.from('hello')]))
    await first.sweep(none, { now: Date.now() + 2 * aDay, graceMs: aDay })
    expect(filesIn(join(home, 'blobs', 'aside'))).toHaveLength(1)
    expect(statSync(join(home, 'blobs', 'aside')).mode & 0o777).toBe(0o700)
    expect(await other.has(hash)).toBe(true)
    expect(filesIn(join(home, 'blobs', 'aside'))).toEqual([])
    expect(await (await open()).has(hash)).toBe(true)
  })

  it('keep the intact bytes of a blob that was put again while it was set aside', async () => {
    const blobs = await open()
    const { hash } = orThrow(await blobs.put([Buffer.from('hello')]))
    await blobs.sweep(none, { now: Date.now() + 2 * aDay, graceMs: aDay })
    writeFileSync(join(home, 'blobs', 'aside', hash), 'hullo')
    await blobs.put([Buffer.from('hello')])
    await blobs.sweep(async (hashes) => new Set(hashes), { now: Date.now() + 9 * aDay, graceMs: aDay })
    expect(filesIn(home).map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))).toEqual(['hello'])
  })

  it('stop a sweep when it is aborted, without a change to the current page', async () => {
    const blobs = await open()
    const options = (days: number) => ({ now: Date.now() + days * aDay, graceMs: aDay })
    const aside = () => filesIn(join(home, 'blobs', 'aside')).length
    await blobs.put([Buffer.from('hello')])
    await blobs.sweep(none, options(2))
    for (const text of ['one', 'two', 'three']) await blobs.put([Buffer.from(text)])
    const ending = new AbortController()
    const asked: number[] = []
    const swept = await blobs.sweep(
      async (hashes) => {
        asked.push(hashes.length)
        ending.abort()
        return new Set(hashes)
      },
      { ...options(4), signal: ending.signal },
    )
    expect([swept, asked, aside()]).toEqual([{ removed: 0, bytes: 0, setAside: 0 }, [1], 1])
  })

  it('report a failed sweep as a fault', async () => {
    const blobs = await open()
    await blobs.put([Buffer.from('hello')])
    writeFileSync(join(home, 'blobs', 'aside'), 'not a directory')
    const sweeping = blobs.sweep(none, { now: Date.now() + 2 * aDay, graceMs: aDay })
    await expect(sweeping).rejects.toMatchObject({ code: 'storage_error' })
  })

  it('store the same bytes once, in a private file', async () => {
    const umask = process.umask(0)
    try {
      const blobs = await open()
      await Promise.all([1, 2, 3].map(() => blobs.put([Buffer.from('hello')])))
    } finally {
      process.umask(umask)
    }
    const shelf = join(home, 'blobs', '2c')
    expect(filesIn(home).map(({ name }) => name)).toEqual([
      'f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    ])
    expect([join(home, 'blobs'), shelf].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700])
    expect(filesIn(home).map(({ parentPath, name }) => statSync(join(parentPath, name)).mode & 0o777)).toEqual([0o600])
  })

  it('leave no file after a put that is too large or interrupted', async () => {
    const blobs = await open()
    await blobs.put([new Uint8Array(blobTestBytesMax + 1)])
    function* broken() {
      yield Buffer.from('hel')
      throw new Error('the client hung up')
    }
    await blobs.put(broken()).catch(() => undefined)
    expect(filesIn(home)).toEqual([])
  })

  it('repair a damaged blob when its bytes are put again', async () => {
    const blobs = await open()
    const put = await blobs.put([Buffer.from('hello')])
    const [file] = filesIn(home)
    if (file) writeFileSync(join(file.parentPath, file.name), 'hullo')
    expect(await blobs.put([Buffer.from('hello')])).toEqual(put)
    expect(filesIn(home).map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))).toEqual(['hello'])
  })

  it('make an existing directory private', async () => {
    mkdirSync(join(home, 'blobs'), { mode: 0o755 })
    await open()
    expect(statSync(join(home, 'blobs')).mode & 0o777).toBe(0o700)
  })

  it('refuse a directory that is a file', async () => {
    writeFileSync(join(home, 'blobs'), 'not a directory')
    expect(await openFileBlobs(join(home, 'blobs'))).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
  })
})
