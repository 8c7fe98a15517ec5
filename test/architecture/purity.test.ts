import { describe, expect, it } from 'vitest'
import { codeOf, sources, under } from './sources.ts'

const core = 'packages/core/src/'
const pure = under(
  ...['session/', 'context/', 'policy/', 'ports/'].map((folder) => core + folder),
  'packages/protocol/src/',
)
const impure = [
  'Date.now',
  'new Date()',
  'Math.random',
  'randomUUID',
  'process.env',
  'setTimeout',
  'setInterval',
  'console.',
  'await ',
] as const

const using = (word: string, among: typeof sources) =>
  among.filter((source) => codeOf(source).includes(word)).map(({ path }) => path)

describe('purity', () => {
  it('reads real source files', () => {
    expect(pure.length).toBeGreaterThan(40)
    expect(using('switch (', pure)).toContain(`${core}session/decide.ts`)
  })

  it.each(impure)('keeps %s out of the pure core, the ports and the protocol', (word) => {
    const allowed = word === 'await ' ? ['packages/protocol/src/frame/sse.ts'] : []
    expect(using(word, pure).filter((path) => !allowed.includes(path))).toEqual([])
  })

  it('keeps synchronous reads of a disk out of what each step looks for: skills, commands, instructions', () => {
    const folders = ['guidance', 'context'].map((folder) => `packages/holdfast/src/${folder}/`)
    expect(under(...folders).length).toBeGreaterThan(20)
    expect(using('Sync(', under(...folders))).toEqual([])
  })

  it('lets the runtime read time and randomness only from its dependencies', () => {
    const runtime = under(`${core}runtime/`)
    for (const word of [
      'Date.now',
      'new Date()',
      'Math.random',
      'setTimeout',
      'setInterval',
      'process.env',
      'console.',
    ])
      expect(using(word, runtime), word).toEqual([])
  })

  it('reads the environment only at entry points', () => {
    // Entry points are the command line, `openHoldfast` and `openStores`; the last two accept another environment.
    const opens = ['packages/holdfast/src/open.ts', 'packages/holdfast/src/admin/jobs/admin-stores.ts']
    const isEntryPoint = (path: string) => /^packages\/holdfast\/(bin|src\/cli)\//.test(path) || opens.includes(path)
    const passesOn = 'packages/holdfast/src/system/start-thread.ts' // a thread gets the environment of its process
    expect(using('process.env', sources).filter((path) => !isEntryPoint(path) && path !== passesOn)).toEqual([])
    for (const path of opens) {
      const reads = codeOf(sources.find((source) => source.path === path) ?? expect.fail(path)).split('process.env')
      expect(reads, path).toHaveLength(2)
      expect(reads[0], path).toMatch(/environment(: Environment)? = $/)
    }
  })
})

describe('browser code', () => {
  const browser = under('packages/protocol/src/', 'packages/client/src/', 'packages/web/src/')

  it('imports no Node module', () => {
    const importing = browser.filter(({ text }) => /from 'node:|import\('node:|require\(/.test(text))
    expect(importing.map(({ path }) => path)).toEqual([])
  })

  it('uses no Node global', () => {
    for (const word of ['Buffer.', 'process.', 'setImmediate(', '__dirname'])
      expect(using(word, browser), word).toEqual([])
  })
})
