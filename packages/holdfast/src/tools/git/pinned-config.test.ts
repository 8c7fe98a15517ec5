import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { appendFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ok } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { entriesMax, formatSettings, ownSettings, pinConfig, settingsMax } from './pinned-config.ts'
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
  const before = ownSettings(git('config', '--list', '-z', '--show-scope')) ?? []
  await writeFile(join(workdir, '.git/config'), formatSettings(before))
  const after = ownSettings(git('config', '--list', '-z', '--show-scope'))
  expect(after).toEqual(before.filter(({ name }) => name !== 'core.bare'))
  expect(after).toContainEqual({ name: 'core.precomposeunicode', value: null })
  await rm(workdir, { recursive: true })
})

it('refuses a repository with too many entries or settings, and leaves no folder behind', async () => {
  const { workdir } = await openWorkdir()
  execFileSync('git', ['init', '-q'], { cwd: workdir, env: environment })
  const config = join(workdir, '.git/config')
  const open = () => inRepository(workdir, { environment }, notAborted, async () => ok('opened'))
  const plain = await readFile(config, 'utf8')
  await writeFile(config, `${plain}[a]\n${'\tb = c\n'.repeat(settingsMax + 1)}`)
  expect(await open()).toMatchObject({ ok: false, fault: { code: 'too_large' } })
  await writeFile(config, `${plain}[a]\n${'\tb = c\n'.repeat(settingsMax / 2)}`)
  expect(await open()).toEqual(ok('opened'))
  await writeFile(config, plain)
  for (let at = 0; at < entriesMax; at++) writeFileSync(join(workdir, '.git', `entry${at}`), '')
  expect(await open()).toMatchObject({ ok: false, fault: { code: 'too_large' } })
})

it('stops when it is aborted', async () => {
  const { workdir } = await openWorkdir()
  await writeFile(join(workdir, 'a'), '')
  expect(await pinConfig(workdir, '', AbortSignal.abort())).toMatchObject({ ok: false, fault: { message: 'aborted' } })
})
