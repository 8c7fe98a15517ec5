import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openPrivateFile } from './private-file.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hf-file-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const opened = (path: string, replaces: boolean) => {
  const file = openPrivateFile(path, { replaces, pid: 1 })
  if (!file.ok) throw new Error(file.fault.message)
  return file.value
}

describe('a private file', () => {
  it('is there once kept, whole, and its owner’s alone', async () => {
    const file = opened(join(dir, 'a.md'), false)
    await file.write('one ')
    expect(readdirSync(dir)).not.toContain('a.md')
    await file.write('two')
    expect(file.keep().ok).toBe(true)
    expect(readdirSync(dir)).toEqual(['a.md'])
    expect(readFileSync(join(dir, 'a.md'), 'utf8')).toBe('one two')
    expect(statSync(join(dir, 'a.md')).mode & 0o777).toBe(0o600)
  })

  it('takes no one’s place unless asked to, not even of a file that came meanwhile', async () => {
    const path = join(dir, 'a.md')
    const file = opened(path, false)
    writeFileSync(path, 'theirs')
    expect(file.keep()).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    expect(openPrivateFile(path, { replaces: false, pid: 1 }).ok).toBe(false)
    expect(readFileSync(path, 'utf8')).toBe('theirs')
    expect(readdirSync(dir)).toEqual(['a.md'])
  })

  it('replaces when asked to', async () => {
    const path = join(dir, 'a.md')
    writeFileSync(path, 'old')
    const file = opened(path, true)
    await file.write('new')
    file.keep()
    expect(readFileSync(path, 'utf8')).toBe('new')
  })

  it('leaves nothing when dropped', async () => {
    const file = opened(join(dir, 'a.md'), false)
    await file.write('half')
    file.drop()
    expect(readdirSync(dir)).toEqual([])
  })

  it('is refused where it cannot be', () => {
    mkdirSync(join(dir, 'sub'))
    expect(openPrivateFile(join(dir, 'sub'), { replaces: true, pid: 1 }).ok).toBe(false)
    expect(openPrivateFile(join(dir, 'none', 'a.md'), { replaces: true, pid: 1 }).ok).toBe(false)
  })
})
