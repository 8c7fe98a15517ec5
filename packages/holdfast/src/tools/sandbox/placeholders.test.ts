import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createPlaceholders, type Placeholder } from './placeholders.ts'

async function open() {
  const { workdir, beside } = await openWorkdir()
  const directory = join(beside, 'placeholders')
  const folder: Placeholder = { path: join(workdir, '.git'), content: null }
  const file: Placeholder = { path: join(workdir, 'commondir'), content: '.\n' }
  return { workdir, beside, directory, folder, file, placeholders: createPlaceholders(directory) }
}

/** Creates placeholders in another process, which keeps them until it is killed. */
async function makeElsewhere(directory: string, wanted: readonly Placeholder[]) {
  const module = new URL('placeholders.ts', import.meta.url).href
  const code = `
    const { createPlaceholders } = await import(${JSON.stringify(module)})
    await createPlaceholders(${JSON.stringify(directory)}).make(${JSON.stringify(wanted)})
    process.stdout.write('made')
    setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  await Promise.race([once(child.stdout, 'data'), exited.then(() => Promise.reject(new Error('it made nothing')))])
  return kill
}

describe('placeholders', () => {
  it('are removed each time, also folders, whose names lead through an open parent', async () => {
    const { workdir, folder, placeholders } = await open()
    for (let round = 0; round < 50; round++) {
      const { release } = await placeholders.make([folder])
      await release()
      expect(await readdir(workdir)).toEqual([])
    }
  })

  it('exist until the last command releases them', async () => {
    const { workdir, directory, folder, file, placeholders } = await open()
    const first = await placeholders.make([folder, file])
    const second = await placeholders.make([file])
    expect(first.made).toEqual([folder, file])
    expect(second.made).toEqual([file])
    await first.release()
    expect(await readdir(workdir)).toEqual(['commondir'])
    expect(await readFile(file.path, 'utf8')).toBe('.\n')
    await second.release()
    expect(await readdir(workdir)).toEqual([])
    expect(await readdir(directory)).toEqual([])
  })

  it('never replace or remove the file of another program', async () => {
    const { workdir, folder, file, placeholders } = await open()
    await writeFile(file.path, 'mine')
    const before = await placeholders.make([file])
    expect(before.made).toEqual([file]) // it can be mounted over
    await before.release()
    expect(await readFile(file.path, 'utf8')).toBe('mine')
    const { release } = await placeholders.make([folder])
    await writeFile(join(folder.path, 'HEAD'), 'mine')
    await release()
    expect(await readdir(workdir)).toEqual(['.git', 'commondir'])
  })

  it('are not created behind a link or in a folder that does not exist', async () => {
    const { workdir, beside, placeholders } = await open()
    await mkdir(join(beside, 'outside'))
    await symlink(join(beside, 'outside'), join(workdir, 'link'))
    const wanted = ['link/a', 'absent/a'].map((path) => ({ path: join(workdir, path), content: '' }))
    const { made, release } = await placeholders.make(wanted)
    expect(made).toEqual([])
    await release()
    expect(await readdir(join(beside, 'outside'))).toEqual([])
  })

  it('stay while another process needs them, and are removed after it has crashed', async () => {
    const { workdir, directory, folder, file, placeholders } = await open()
    const kill = await makeElsewhere(directory, [folder, file])
    const { release } = await placeholders.make([file])
    await release()
    await placeholders.removeLeftovers()
    expect(await readdir(workdir)).toEqual(['.git', 'commondir'])
    await kill()
    const { release: releaseAgain } = await placeholders.make([file])
    await placeholders.removeLeftovers()
    expect(await readdir(workdir)).toEqual(['commondir']) // this process needs it
    await releaseAgain()
    expect(await readdir(workdir)).toEqual([])
    expect(await readdir(directory)).toEqual([])
  })

  it('ignore records that cannot be read', async () => {
    const { directory, placeholders } = await open()
    await mkdir(directory, { mode: 0o700 })
    await writeFile(join(directory, '99999999%2Fx+1.placeholder'), '{')
    await writeFile(join(directory, 'note.txt'), 'mine')
    await expect(placeholders.removeLeftovers()).resolves.toBeUndefined()
    expect(await readdir(directory)).toContain('note.txt')
  })
})
