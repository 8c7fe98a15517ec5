import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fault } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findHome } from '../../system/home.ts'
import { saveRefusedPrompt } from './save-refused-prompt.ts'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-prompt-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))
const context = () => ({ home: findHome({ HOLDFAST_HOME: directory }), pid: 7 })
const savedAt = (number: number) => join(directory, 'state', 'refused-prompts', `${number}.txt`)
const noKey = fault('no_credentials', 'Add a key.', { model: 'sim/model' })

describe('a refused prompt from standard input', () => {
  it('is saved to a private file whose path the error gives', async () => {
    const path = savedAt(1)
    expect(await saveRefusedPrompt(noKey, 'A long thought.\n', context())).toEqual(
      fault('no_credentials', `Add a key. The piped prompt is saved. To send it again: holdfast run < ${path}`, {
        model: 'sim/model',
        prompt: path,
      }),
    )
    expect([await readFile(path, 'utf8'), (await stat(path)).mode & 0o777]).toEqual(['A long thought.\n', 0o600])
  })

  it('is not overwritten by the next one, nor by one at the same time', async () => {
    const ends = [await saveRefusedPrompt(noKey, 'One.', context())]
    ends.push(
      ...(await Promise.all(
        ['Two.', 'Three.'].map((text, pid) => saveRefusedPrompt(noKey, text, { ...context(), pid })),
      )),
    )
    const paths = ends.map((end) => String(end.details?.['prompt']))
    expect(await Promise.all(paths.map((path) => readFile(path, 'utf8')))).toEqual(['One.', 'Two.', 'Three.'])
  })

  it('is deleted after a hundred newer ones', async () => {
    for (let count = 1; count <= 101; count++) await saveRefusedPrompt(noKey, `${count}`, context())
    const names = await readdir(dirname(savedAt(1)))
    expect([names.length, names.includes('1.txt'), await readFile(savedAt(2), 'utf8')]).toEqual([100, false, '2'])
  })

  it('is not saved if it may have been accepted', async () => {
    const end = fault('session_stopped', 'It ended.')
    expect(await saveRefusedPrompt(end, 'A thought.', context())).toBe(end)
    await expect(stat(join(directory, 'state'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('is reported as not saved if that fails', async () => {
    await writeFile(join(directory, 'state'), 'in the way')
    expect(await saveRefusedPrompt(noKey, 'A thought.', context())).toMatchObject({
      code: 'no_credentials',
      message: 'Add a key. The piped prompt could not be saved.',
    })
  })
})
