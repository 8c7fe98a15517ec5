import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTextOutput } from '../testing/text-output.ts'
import { OutputClosed } from './output.ts'
import { pagerOf, withPager } from './pager.ts'

it('takes the pager from the environment, and none for cat, nothing or a dumb terminal', () => {
  expect(pagerOf({})).toBe('less')
  expect(pagerOf({ PAGER: 'most -s' })).toBe('most -s')
  expect(pagerOf({ PAGER: 'most', HOLDFAST_PAGER: 'less -S' })).toBe('less -S')
  for (const none of [{ PAGER: '' }, { HOLDFAST_PAGER: 'cat' }, { TERM: 'dumb' }]) expect(pagerOf(none)).toBeNull()
})

const terminal = (rows: number | null) => {
  const { output, text } = createTextOutput()
  return { out: { ...output, isTerminal: rows !== null, columns: 80, rows }, text }
}
const PATH = process.env['PATH']

it('prints text that fits on the terminal, or is not for one, as it is', async () => {
  for (const rows of [null, 24]) {
    const { out, text } = terminal(rows)
    await withPager({ out, environment: { PATH, PAGER: 'false' } }, (paged) => paged.write('one\ntwo\n'))
    expect(text()).toBe('one\ntwo\n')
  }
})

it('gives longer text to the pager, all of it and in order', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hf-pager-'))
  const { out, text } = terminal(5)
  const lines = Array.from({ length: 5000 }, (_, line) => `line ${line}\n`)
  await withPager({ out, environment: { PATH, PAGER: `tee ${folder}/paged > /dev/null` } }, async (paged) => {
    for (const line of lines) await paged.write(line)
  })
  expect(await readFile(join(folder, 'paged'), 'utf8')).toBe(lines.join(''))
  expect(text()).toBe('')
  await rm(folder, { recursive: true })
})

it('ends the command when the user leaves the pager, and prints as it is without one', async () => {
  const { out } = terminal(2)
  const printing = withPager({ out, environment: { PATH, PAGER: 'true' } }, async (paged) => {
    for (;;) await paged.write('more\n'.repeat(100))
  })
  await expect(printing).rejects.toThrow(OutputClosed)
  const plain = terminal(2)
  const environment = { PATH, PAGER: 'no-such-pager' }
  await withPager({ out: plain.out, environment }, (paged) => paged.write('1\n2\n3\n'))
  expect(plain.text()).toBe('1\n2\n3\n')
})
