import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

const source = (name: string): Buffer => readFileSync(new URL(`../golden/import/${name}.source`, import.meta.url))

describe('holdfast import and export', () => {
  it('takes over a folder, says what it changed, and gives everything back', async () => {
    using cli = createCli()
    const folder = join(cli.workdir, 'old', 'deep')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'a.jsonl'), source('ggcode-1.3.33-corrupt'))
    writeFileSync(join(folder, 'b.json'), source('minga-branches'))
    writeFileSync(join(folder, 'c.jsonl'), source('picoclaw-truncated'))
    writeFileSync(join(folder, 'c.meta.json'), source('picoclaw-truncated.meta'))
    writeFileSync(join(folder, 'notes.txt'), 'no session')

    const imported = await cli.run(['import', 'old'])
    expect(imported.code, imported.stderr).toBe(0)
    expect(imported.stdout.trim().split('\n').length).toBe(3)
    expect(imported.stderr).toContain('3 imported, 1 skipped.')
    expect(imported.stderr).toMatch(/a\.jsonl:\d+: A line with NUL bytes in it was left out\./)

    const again = await cli.run(['import', 'old', '--json', '--quiet'])
    const { files } = JSON.parse(again.stdout)
    const sessions = files.filter(({ session }: { session: string | null }) => session !== null)
    expect(sessions.map(({ status }: { status: string }) => status)).toEqual(['same', 'same', 'same'])
    const [{ session }] = sessions

    for (const format of ['md', 'html', 'json', 'jsonl']) {
      const exported = await cli.run(['export', session, '--format', format, '-o', `out.${format}`])
      expect(exported.code, exported.stderr).toBe(0)
    }
    expect(readFileSync(join(cli.workdir, 'out.html'), 'utf8')).toMatch(/^<!doctype html>/)
    const text = readFileSync(join(cli.workdir, 'out.jsonl'), 'utf8')

    const elsewhere = { environment: { HOLDFAST_HOME: join(cli.workdir, 'other-home') } }
    const taken = await cli.run(['import', 'out.jsonl'], elsewhere)
    expect(taken.code, taken.stderr).toBe(0)
    const back = await cli.run(['export', session, '--format', 'jsonl'], elsewhere)
    expect(back.stdout).toBe(text)
  })

  it('says that there was nothing', async () => {
    using cli = createCli()
    writeFileSync(join(cli.workdir, 'x.json'), '{"theme":"dark"}')
    const none = await cli.run(['import', 'x.json'])
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('holds no session of a form we know')])
    const wrong = await cli.run(['import', 'x.json', '--from', 'word'])
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--from is auto, holdfast')])
  })
})
