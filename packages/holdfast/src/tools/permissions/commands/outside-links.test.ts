import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openWorkdir } from '../../../../../testkit/src/contracts/tool.ts'
import { findLinkedOut } from './outside-links.ts'
import type { PlainCommand } from './plain-commands.ts'

let workdir = ''
beforeEach(async () => {
  const opened = await openWorkdir()
  workdir = opened.workdir
  const outside = join(workdir, '..', 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'key'), 'secret')
  await mkdir(join(workdir, 'sub'))
  await writeFile(join(workdir, 'plain'), '')
  await symlink('plain', join(workdir, 'inner'))
  await symlink(join(outside, 'key'), join(workdir, 'notes'))
  await symlink(outside, join(workdir, 'lnk'))
  await symlink(outside, join(workdir, 'sub/deep'))
  await symlink(join(outside, 'absent'), join(workdir, 'sub/out'))
  await symlink('loop', join(workdir, 'loop'))
})

const isOut = async (word: string, ...commands: readonly PlainCommand[]) =>
  (await findLinkedOut(commands, workdir))(word)

describe('a word of a command', () => {
  it.each(['notes', 'lnk', 'lnk/key', 'lnk/none', 'sub/out', '--file=notes', '-fnotes', '-rfnotes', 'a=notes', 'loop'])(
    'leads outside: %s',
    async (word) => expect(await isOut(word, ['cat', word])).toBe(true),
  )

  it.each(['plain', 'inner', 'none', 'sub', '.', '-n', '--file=plain', '-fplain', 's/a/b/', '*.ts'])(
    'stays inside: %s',
    async (word) => expect(await isOut(word, ['cat', word])).toBe(false),
  )

  it('is looked up in every folder that the commands may be in', async () => {
    expect(await isOut('deep', ['cat', 'deep'])).toBe(false)
    expect(await isOut('deep', ['cd', 'sub'], ['cat', 'deep'])).toBe(true)
    expect(await isOut('lnk', ['cd', 'lnk'], ['cat', 'key'])).toBe(true)
  })

  it('is looked up as the folder of a copy', async () => {
    expect(await isOut('sub', ['cp', 'other/out', 'sub'])).toBe(true)
    expect(await isOut('sub', ['cp', 'other/in', 'sub'])).toBe(false)
  })

  it('leads to what decides which programs run, for a command that may write', async () => {
    await mkdir(join(workdir, '.git'))
    await symlink('.git', join(workdir, 'd'))
    for (const word of ['d', 'd/config', 'd/hooks/x']) {
      expect(await isOut(word, ['cp', 'config', word])).toBe(true)
      expect(await isOut(word, ['git', 'mv', 'config', word])).toBe(true)
      expect(await isOut(word, ['cat', word])).toBe(false)
    }
    expect(await isOut('.git/config', ['cat', '.git/config'])).toBe(false)
  })

  it('may lead anywhere if there are too many', async () => {
    const words = Array.from({ length: 500 }, (_, index) => `w${index}`)
    expect(await isOut('w1', ['cat', ...words])).toBe(true)
  })
})
