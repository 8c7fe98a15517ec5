import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Blobs } from '@holdfast/core/ports'
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
  it('keep one private file for the same bytes, and no other', async () => {
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

  it('leave nothing behind of what is too large or broke off', async () => {
    const blobs = await open()
    await blobs.put([new Uint8Array(blobTestBytesMax + 1)])
    function* broken() {
      yield Buffer.from('hel')
      throw new Error('the client hung up')
    }
    await blobs.put(broken()).catch(() => undefined)
    expect(filesIn(home)).toEqual([])
  })

  it('mend a damaged blob when its bytes come again', async () => {
    const blobs = await open()
    const put = await blobs.put([Buffer.from('hello')])
    const [file] = filesIn(home)
    if (file) writeFileSync(join(file.parentPath, file.name), 'hullo')
    expect(await blobs.put([Buffer.from('hello')])).toEqual(put)
    expect(filesIn(home).map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))).toEqual(['hello'])
  })

  it('tighten a directory that was open to others', async () => {
    mkdirSync(join(home, 'blobs'), { mode: 0o755 })
    await open()
    expect(statSync(join(home, 'blobs')).mode & 0o777).toBe(0o700)
  })

  it('refuse a directory that is a file', async () => {
    writeFileSync(join(home, 'blobs'), 'not a directory')
    expect(await openFileBlobs(join(home, 'blobs'))).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
  })
})
