import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSummaryFiles } from './summary-files.ts'

const { save } = createSummaryFiles({ now: () => Date.parse('2026-01-02T23:59:59Z') })

describe('a summary file', () => {
  let workdir = ''
  beforeEach(async () => {
    workdir = await mkdtemp(join(tmpdir(), 'holdfast-artefacts-'))
  })
  afterEach(() => rm(workdir, { recursive: true, force: true }))

  it('is named by date and title, and never replaces another', async () => {
    const first = await save(workdir, 'Why we / moved: the Store!', '# A')
    const second = await save(workdir, 'Why we / moved: the Store!', '# B')
    expect([first, second]).toEqual([
      { ok: true, value: '.holdfast/context/2026-01-02-why-we-moved-the-store.md' },
      { ok: true, value: '.holdfast/context/2026-01-02-why-we-moved-the-store-2.md' },
    ])
    expect(await readFile(join(workdir, '.holdfast/context/2026-01-02-why-we-moved-the-store.md'), 'utf8')).toBe(
      '# A\n',
    )
  })

  it.each([
    ['../../evil', '2026-01-02-evil.md'],
    ['', '2026-01-02-summary.md'],
    ['Żółw 海', '2026-01-02-żółw-海.md'],
    ['x'.repeat(300), `2026-01-02-${'x'.repeat(60)}.md`],
  ])('titled %j has a safe file name', async (title, name) => {
    await save(workdir, title, 'text')
    expect(await readdir(join(workdir, '.holdfast/context'))).toEqual([name])
  })

  it('is refused if a link leads out of the workdir, and nothing is written', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'holdfast-outside-'))
    await symlink(outside, join(workdir, '.holdfast'))
    expect(await save(workdir, 'note', 'text')).toMatchObject({ fault: { code: 'outside_workdir' } })
    expect(await readdir(outside)).toEqual([])
    await rm(outside, { recursive: true })
  })

  it('is refused with a message if its folder cannot be created', async () => {
    await mkdir(join(workdir, '.holdfast'))
    await writeFile(join(workdir, '.holdfast/context'), 'a file')
    expect(await save(workdir, 'note', 'text')).toMatchObject({ ok: false })
  })
})
