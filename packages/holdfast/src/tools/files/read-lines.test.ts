import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits, orThrow } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createReadLines } from './read-lines.ts'

describe('lines of a file, for people', () => {
  it('are counted from 0 and read page by page', async () => {
    const { workdir } = await openWorkdir()
    await mkdir(join(workdir, 'src'))
    await writeFile(join(workdir, 'src/a.ts'), 'one\r\ntwo\nthree')
    await symlink('src/a.ts', join(workdir, 'link.ts'))
    const read = createReadLines([])
    const first = { path: 'src/a.ts', start: 0, lines: ['one', 'two'], total: 3, next: 2 }
    expect(orThrow(await read(workdir, { path: 'link.ts', limit: 2 }))).toEqual(first)
    const last = { path: 'src/a.ts', start: 2, lines: ['three'], total: 3, next: null }
    expect(orThrow(await read(workdir, { path: 'src/a.ts', start: 2 }))).toEqual(last)
    await writeFile(join(workdir, 'empty'), '')
    const none = { path: 'empty', start: 0, lines: [], total: 0, next: null }
    expect(orThrow(await read(workdir, { path: 'empty' }))).toEqual(none)
  })

  it('are bounded, each and together', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'wide'), `${'x'.repeat(10_000)}\n`.repeat(60))
    const { lines, next } = orThrow(await createReadLines([])(workdir, { path: 'wide' }))
    expect(lines[0]?.length).toBe(limits.readLineCharsMax)
    expect(lines.join('\n').length).toBeLessThanOrEqual(limits.readFileBytesMax)
    expect(next).toBe(lines.length)
  })

  it.each([
    ['../secret.txt', 'outside_workdir'],
    ['own/../../secret.txt', 'outside_workdir'],
    ['/etc/passwd', 'outside_workdir'],
    ['out', 'outside_workdir'],
    ['folder-out/secret.txt', 'outside_workdir'],
    ['own/token', 'outside_workdir'],
    ['missing', 'not_found'],
    ['.', 'bad_request'],
    ['binary', 'bad_request'],
    ['text?start=9', 'not_found'],
  ])('refuses %s with %s', async (path, code) => {
    const { workdir, beside } = await openWorkdir()
    await writeFile(join(beside, 'secret.txt'), 'secret')
    await symlink('../secret.txt', join(workdir, 'out'))
    await symlink(beside, join(workdir, 'folder-out'))
    await mkdir(join(workdir, 'own'))
    await writeFile(join(workdir, 'own/token'), 'secret')
    await writeFile(join(workdir, 'binary'), Buffer.from([0, 1, 2, 0, 255]))
    await writeFile(join(workdir, 'text'), 'one\n')
    const answer = await createReadLines([join(workdir, 'own')])(workdir, { path })
    expect(answer).toMatchObject({ ok: false, fault: { code } })
    expect(JSON.stringify(answer)).not.toContain('"secret"')
  })

  it('refuses a line past the end', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'text'), 'one\n')
    const answer = await createReadLines([])(workdir, { path: 'text', start: 1 })
    expect(answer).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
  })
})
