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

const open = (path: string, replaces: boolean) => {
  const file = openPrivateFile(path, { replaces, pid: 1 })
  if (!file.ok) throw new Error(file.fault.message)
  return file.value
}

describe('a private file', () => {
  it('exists only when complete, and is readable by its owner alone', async () => {
    const file = open(join(dir, 'a.md'), false)
    await file.write('one ')
    expect(readdirSync(dir)).not.toContain('a.md')
    await file.write('two')
    expect(file.commit().ok).toBe(true)
    expect(readdirSync(dir)).toEqual(['a.md'])
    expect(readFileSync(join(dir, 'a.md'), 'utf8')).toBe('one two')
    expect(statSync(join(dir, 'a.md')).mode & 0o777).toBe(0o600)
  })

  it('does not replace a file unless asked to, not even one that was created meanwhile', async () => {
    const path = join(dir, 'a.md')
    const file = open(path, false)
    writeFileSync(path, 'other')
    expect(file.commit()).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    expect(openPrivateFile(path, { replaces: false, pid: 1 }).ok).toBe(false)
    expect(readFileSync(path, 'utf8')).toBe('other')
    expect(readdirSync(dir)).toEqual(['a.md'])
  })

  it('replaces a file when asked to', async () => {
    const path = join(dir, 'a.md')
    writeFileSync(path, 'old')
    const file = open(path, true)
    await file.write('new')
    file.commit()
    expect(readFileSync(path, 'utf8')).toBe('new')
  })

  it('leaves nothing when discarded', async () => {
    const file = open(join(dir, 'a.md'), false)
    await file.write('half')
    file.discard()
    expect(readdirSync(dir)).toEqual([])
  })

  it('is refused in place of a directory and in a missing directory', () => {
    mkdirSync(join(dir, 'sub'))
    expect(openPrivateFile(join(dir, 'sub'), { replaces: true, pid: 1 }).ok).toBe(false)
    expect(openPrivateFile(join(dir, 'none', 'a.md'), { replaces: true, pid: 1 }).ok).toBe(false)
  })
})
