import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSpoolDir } from './spool-dir.ts'

describe('the directory of uploads', () => {
  it('is empty when a server starts, also after one that was killed during an import', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'hf-spool-'))
    try {
      const spools = await openSpoolDir(join(directory, 'imports'))
      mkdirSync(join(spools, 'holdfast-import-abc'))
      writeFileSync(join(spools, 'holdfast-import-abc', 'a.jsonl'), 'half')
      expect(readdirSync(await openSpoolDir(spools))).toEqual([])
      expect(existsSync(spools)).toBe(true)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
