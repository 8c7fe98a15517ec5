import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fault } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findHome } from '../../system/home.ts'
import { ended, refused } from '../terminal/exit.ts'
import { saveRefusedPrompt } from './save-refused-prompt.ts'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-prompt-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))
const place = () => ({ home: findHome({ HOLDFAST_HOME: directory }), pid: 7 })
const kept = (number: number) => join(directory, 'state', 'refused-prompts', `${number}.txt`)
const noKey = refused(fault('no_credentials', 'Add a key.', { model: 'sim/model' }))

describe('a prompt that was piped in', () => {
  it('and refused is kept where only its owner reads it, and the refusal says where', async () => {
    const path = kept(1)
    expect(await saveRefusedPrompt(noKey, 'A long thought.\n', place())).toEqual(
      refused(
        fault(
          'no_credentials',
          `Add a key. What was piped in is kept in ${path}: send it with holdfast run < that file.`,
          {
            model: 'sim/model',
            prompt: path,
          },
        ),
      ),
    )
    expect([await readFile(path, 'utf8'), (await stat(path)).mode & 0o777]).toEqual(['A long thought.\n', 0o600])
  })

  it('is not written over by the next, nor by one at the same time', async () => {
    const ends = [await saveRefusedPrompt(noKey, 'One.', place())]
    ends.push(
      ...(await Promise.all(
        ['Two.', 'Three.'].map((text, pid) => saveRefusedPrompt(noKey, text, { ...place(), pid })),
      )),
    )
    const paths = ends.map((end) => (end.type === 'refused' ? String(end.fault.details?.['prompt']) : ''))
    expect(await Promise.all(paths.map((path) => readFile(path, 'utf8')))).toEqual(['One.', 'Two.', 'Three.'])
  })

  it('goes when a hundred others followed', async () => {
    for (let count = 1; count <= 101; count++) await saveRefusedPrompt(noKey, `${count}`, place())
    const names = await readdir(dirname(kept(1)))
    expect([names.length, names.includes('1.txt'), await readFile(kept(2), 'utf8')]).toEqual([100, false, '2'])
  })

  it('and taken is not kept', async () => {
    for (const end of [ended(), refused(fault('session_stopped', 'It ended.'))])
      expect(await saveRefusedPrompt(end, 'A thought.', place())).toBe(end)
    await expect(stat(join(directory, 'state'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('is said to be lost where it cannot be kept', async () => {
    await writeFile(join(directory, 'state'), 'in the way')
    expect(await saveRefusedPrompt(noKey, 'A thought.', place())).toMatchObject({
      fault: { code: 'no_credentials', message: 'Add a key. What was piped in could not be kept.' },
    })
  })
})
