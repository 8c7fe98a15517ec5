import { execFileSync } from 'node:child_process'
import { appendFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ok } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { formatSettings, ownSettings } from './pinned-config.ts'
import { inRepository } from './repository.ts'

const environment = { PATH: process.env['PATH'], HOME: '/nonexistent' }

it('runs no program that is put into the configuration after it was checked', async () => {
  const { workdir, beside } = await openWorkdir()
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: workdir, env: environment })
  git('init', '-q')
  await writeFile(join(workdir, 'a'), 'one\n')
  await writeFile(join(workdir, '.gitattributes'), '* filter=x\n')
  git('add', '.')
  await writeFile(join(workdir, 'a'), 'two\n')
  const program = `[filter "x"]\n\tclean = touch ${beside}/ran; cat\n[core]\n\tfsmonitor = touch ${beside}/ran; false\n`
  const listed = await inRepository(workdir, { environment }, notAborted, async (repository) => {
    await appendFile(join(workdir, '.git/config'), program)
    const changed = await repository.git(['status', '--porcelain'])
    if (!changed.ok) return changed
    // The shared folder can be named anew too.
    await rename(join(workdir, '.git/config'), join(workdir, 'config'))
    await writeFile(join(workdir, '.git/commondir'), '..\n')
    return ok([changed.value.text, (await repository.git(['status', '--porcelain'])).ok])
  })
  expect(listed).toEqual(ok(['A  .gitattributes\nAM a\n', true]))
  expect(await readdir(beside)).not.toContain('ran')
})

it('writes settings so that git reads the same ones', async () => {
  const { workdir } = await openWorkdir()
  const git = (...words: readonly string[]) =>
    execFileSync('git', words, { cwd: workdir, env: environment, encoding: 'utf8' })
  git('init', '-q')
  const settings = {
    'remote.a "b\\c].url': 'x # ; "quoted"\\ \t and\nlines ',
    'user.name': '  Ada  ',
    'branch.topic.with.dots.merge': '',
  }
  for (const [name, value] of Object.entries(settings)) git('config', name, value)
  await appendFile(join(workdir, '.git/config'), '[core]\n\tprecomposeunicode\n')
  const before = ownSettings(git('config', '--list', '-z', '--show-scope'))
  await writeFile(join(workdir, '.git/config'), formatSettings(before))
  const after = ownSettings(git('config', '--list', '-z', '--show-scope'))
  expect(after).toEqual(before.filter(({ name }) => name !== 'core.bare'))
  expect(after).toContainEqual({ name: 'core.precomposeunicode', value: null })
  await rm(workdir, { recursive: true })
})
