import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HoldfastError } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimPrivateDirectory, ensurePrivateDirectory } from './private-directory.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hf-private-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const modeOf = (path: string) => statSync(path).mode & 0o777

describe('a private directory', () => {
  it('is created with its parents, private regardless of the umask', () => {
    const umask = process.umask(0)
    try {
      ensurePrivateDirectory(join(home, 'a', 'b'))
    } finally {
      process.umask(umask)
    }
    expect([join(home, 'a'), join(home, 'a', 'b')].map(modeOf)).toEqual([0o700, 0o700])
  })

  it('loses permissions of others, and never gains any', () => {
    for (const [name, before, after] of [
      ['open', 0o755, 0o700],
      ['narrow', 0o500, 0o500],
    ] as const) {
      mkdirSync(join(home, name))
      chmodSync(join(home, name), before)
      ensurePrivateDirectory(join(home, name))
      expect(modeOf(join(home, name))).toBe(after)
    }
  })

  it.runIf(existsSync('/proc/self'))('is refused quickly where no directory can be created', () => {
    expect(() => ensurePrivateDirectory('/proc/holdfast/data')).toThrow('ENOENT')
  })

  it('is refused if a file is in the way', () => {
    writeFileSync(join(home, 'file'), '')
    for (const path of [join(home, 'file'), join(home, 'file', 'data')]) {
      expect(() => ensurePrivateDirectory(path)).toThrow('ENOTDIR')
    }
  })

  it('stays unchanged if it is shared', () => {
    const shared = join(home, 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o1777)
    ensurePrivateDirectory(shared)
    expect(modeOf(shared)).toBe(0o777)
  })

  it('is refused as a claimed directory if it is a link or a file', () => {
    mkdirSync(join(home, 'real'))
    symlinkSync(join(home, 'real'), join(home, 'link'))
    expect(() => claimPrivateDirectory(join(home, 'link'))).toThrow(HoldfastError)
  })
})
