import { mkdtempSync, rmSync } from 'node:fs'
import disk from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import path, { join } from 'node:path'
import { limits, type Permission } from '@holdfast/protocol'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { testsOf } from './call-targets.ts'
import { judgeCommand } from './commands/judge-command.ts'
import { findLinkedOut } from './commands/outside-links.ts'
import { createPermissions } from './permissions.ts'

/** Paths that were looked up on the disk, their characters, and names that were made of words. */
const work = { lookedUp: 0, chars: 0, names: 0 }

beforeAll(() => {
  const { lstat } = disk
  vi.spyOn(disk, 'lstat').mockImplementation((...given: Parameters<typeof lstat>) => {
    work.lookedUp++
    work.chars += String(given[0]).length
    return lstat(...given)
  })
  const { basename } = path
  vi.spyOn(path, 'basename').mockImplementation((...given) => {
    work.names++
    return basename(...given)
  })
  syncBuiltinESMExports() // other modules see what is replaced
  return () => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  }
})

let workdir = ''
beforeEach(() => {
  workdir = mkdtempSync(join(tmpdir(), 'hf-rules-'))
})
afterEach(() => rmSync(workdir, { recursive: true, force: true }))

const many = (count: number, word = 'w') => Array.from({ length: count }, (_, index) => `${word}${index}`)

async function measure(run: () => Promise<unknown>) {
  Object.assign(work, { lookedUp: 0, chars: 0, names: 0 })
  const found = await run()
  return { found, ...work }
}

describe('links that a command may lead through', () => {
  it.each([
    ['different words', (count: number) => many(count)],
    ['equal words', (count: number) => Array<string>(count).fill('w')],
    ['options', (count: number) => many(count, '-')],
  ])('are looked up for as many pairs of %s, however many the command has', async (_, wordsOf) => {
    const namesAt = async (count: number) =>
      (await measure(() => findLinkedOut([['prog', ...wordsOf(count)]], workdir))).names
    for (const count of [400, 800]) expect(await namesAt(count)).toBeLessThanOrEqual(401)
  })

  it('are looked up in paths of a bounded length together', async () => {
    const charsAt = async (length: number) => {
      const words = Array.from({ length: 15 }, (_, index) => `${index}${'w'.repeat(length)}`)
      return measure(() => findLinkedOut([...many(3).map((word) => ['cd', word] as const), ['cat', ...words]], workdir))
    }
    expect((await charsAt(100)).lookedUp).toBeGreaterThan(0)
    for (const length of [4000, 8000]) expect((await charsAt(length)).chars).toBe(0)
  })

  it('are not looked up for a command that no rule could allow', async () => {
    let asked = 0
    const facts = {
      isOutside: async () => true,
      findLinkedOut: async () => {
        asked++
        return () => false
      },
    }
    const rules: readonly Permission[] = [{ tool: 'shell', pattern: 'cat *', verdict: 'allow' }]
    expect(await judgeCommand(rules, 'prog a b', facts)).toBeNull()
    expect(asked).toBe(0)
    expect(await judgeCommand(rules, 'cat a', facts)).toMatchObject({ verdict: 'allow' })
    expect(asked).toBe(1)
  })
})

const rule = (verdict: Permission['verdict'], tool: string, pattern?: string): Permission => ({
  tool,
  verdict,
  ...(pattern !== undefined && { pattern }),
})
const judge = (tool: string, args: Readonly<Record<string, unknown>>, rules: readonly Permission[]) =>
  createPermissions({ file: join(workdir, 'permissions.json') }).judge({ tool, args, workdir }, rules)

describe('a call that is too long to be compared with rules', () => {
  const strict = [rule('allow', '*', '**'), rule('deny', '*', 'secrets/**')]
  const long = (chars: number) => 'a/'.repeat(chars / 2)

  it.each([
    ['a path', 'read_file', { path: long(limits.toolPathCharsMax + 2) }],
    ['a path of 200,000 components', 'read_file', { path: long(400_000) }],
    ['one of many paths', 'mcp__files__read', { paths: ['ok', long(limits.toolPathCharsMax + 2)] }],
    ['a list of paths', 'mcp__files__read', { paths: many(201) }],
    ['a list of twice as many paths', 'mcp__files__read', { files: many(402) }],
    ['long paths together', 'mcp__files__read', { paths: many(20, 'p'.repeat(4000)) }],
    ['an address', 'fetch', { url: `https://x/${long(limits.shellCommandBytesMax)}` }],
    ['a command', 'shell', { command: `cat ${long(limits.shellCommandBytesMax)}` }],
    ['a command of many bytes', 'shell', { command: 'é'.repeat(limits.shellCommandBytesMax / 2 + 1) }],
  ])('is asked about, and none of it looked up: %s', async (_, tool, args) => {
    const { found, lookedUp } = await measure(() => judge(tool, args, [...strict, rule('deny', 'shell', 'rm **')]))
    expect(found).toMatchObject({ verdict: 'unknown', reason: expect.stringContaining('not compared') })
    expect(lookedUp).toBe(0)
  })

  it('is denied if a rule denies every call of its tool, and is nothing that a rule with a pattern allows', async () => {
    const args = { paths: many(300) }
    expect(await judge('read_file', args, [...strict, rule('deny', 'read_file')])).toMatchObject({ verdict: 'deny' })
    expect(await judge('read_file', args, [rule('allow', 'read_file', '**')])).toBeNull()
    expect(await judge('read_file', args, [rule('allow', 'read_file')])).toMatchObject({ verdict: 'allow' })
  })

  it('is compared up to the limits', async () => {
    expect(await judge('read_file', { paths: many(200) }, strict)).toMatchObject({ verdict: 'allow' })
    expect(await judge('read_file', { paths: [...many(199), 'secrets/key'] }, strict)).toMatchObject({
      verdict: 'deny',
    })
  })
})

it('names of a command are looked up in every folder only as far as they are short together', async () => {
  const denied = [rule('deny', 'read_file', 'secrets/**')]
  const lookedUpAt = (length: number) => {
    const folders = many(4, 'f'.repeat(length)).map((folder) => `cd ${folder}`)
    return measure(() => judge('shell', { command: `${folders.join('; ')}; cat a b c` }, denied))
  }
  const short = await lookedUpAt(50)
  expect(short).toMatchObject({ found: null })
  expect(short.lookedUp).toBeGreaterThan(0)
  for (const length of [2000, 4000])
    expect(await lookedUpAt(length)).toMatchObject({ found: { verdict: 'ask' }, lookedUp: 0, chars: 0 })
})

describe('many rules against many paths', () => {
  const rules = Array.from({ length: 500 }, (_, index) => rule('deny', '*', `**/*[s]ecret${index}*/**/*.key`))
  const slicesOf = async (run: () => Promise<unknown>) => {
    let [slices, isRunning] = [0, true]
    const count = () => {
      slices++
      if (isRunning) setImmediate(count)
    }
    setImmediate(count)
    await run()
    isRunning = false
    return slices
  }

  it('are compared in as many slices as there is work', async () => {
    const { deniedTest } = createPermissions({ file: join(workdir, 'rules.json') })
    const denied = await deniedTest('find', { workdir, permissions: rules })
    if (!denied.ok) throw new Error(denied.fault.message)
    const slicesAt = (count: number) =>
      slicesOf(async () => {
        for (const name of many(count, 'src/folder/')) expect(await denied.value?.(`${name}.key`)).toBe(false)
      })
    const [once, twice] = [await slicesAt(40), await slicesAt(80)]
    expect(once).toBeGreaterThan(5)
    expect(twice).toBeGreaterThan(once * 1.5)
  })

  it.each([
    ['deny', 'z*', 200, 200],
    ['allow', 'a z*', 20, 2000],
  ] as const)(
    'to %s are compared with many commands in as many slices as there is work',
    async (verdict, pattern, commands, rulesCount) => {
      const facts = { isOutside: async () => true, findLinkedOut: async () => () => false }
      const slicesAt = (count: number) => {
        const all = Array.from({ length: count }, (_, index) => ({
          tool: 'shell',
          pattern: `${pattern}${index}`,
          verdict,
        }))
        const last = { tool: 'shell', pattern: 'a b', verdict: 'allow' } as const
        return slicesOf(() => judgeCommand([...all, last], 'a b;'.repeat(commands), facts))
      }
      const [once, twice] = [await slicesAt(rulesCount), await slicesAt(2 * rulesCount)]
      expect(once).toBeGreaterThan(5)
      expect(twice).toBeGreaterThan(once * 1.5)
    },
  )

  it('are not compared if a pattern and a path are too long together: a person is asked', async () => {
    const rules = [rule('deny', '*', `${'*a'.repeat(450)}[b]`), rule('allow', 'read_file')]
    expect(await judge('read_file', { path: 'a'.repeat(2000) }, rules)).toMatchObject({ verdict: 'unknown' })
    expect(await judge('read_file', { path: 'c'.repeat(200) }, rules)).toMatchObject({ verdict: 'allow' })
  })

  it.each(['*a', '[a]*', '{a*,a*}', '**/', '*?', '[b-za]*', '{,a}', '[A]*', '[^b]*'])(
    'take at most 1,000,000 steps for one pattern and one path, however often the pattern repeats %s',
    (unit) => {
      for (const length of [50, 125, 250, 500, 1000, 2000]) {
        const tests = testsOf(`${unit.repeat(Math.ceil(length / unit.length))}b`, workdir)
        for (const text of ['a', 'A', 'a/'])
          for (const chars of [250, 500, 1000, 2000, 4000]) {
            const work = { steps: 0 }
            tests?.isForbidden(`${text.repeat(chars / text.length)}b`, work)
            expect([length, text, chars, work.steps > 1_000_000]).toEqual([length, text, chars, false])
          }
      }
    },
  )

  it.each(['**/*[s]ecret12*/**/*.key', '[a-z]*/**/[0-9]*', '{src,lib}/**/*[a-z].{key,pem}', '**/[^.]*[0-9].key'])(
    'take about one step for each character of a path, once %s has been compared with some',
    (pattern) => {
      const tests = testsOf(pattern, workdir)
      const stepsFor = (paths: readonly string[]) => {
        const work = { steps: 0 }
        for (const path of paths) tests?.isPath(path, work)
        return work.steps
      }
      stepsFor(many(50, 'src/folder/some-file.').map((path) => `${path}.key`))
      const others = many(50, 'src/other/some-more.').map((path) => `${path}.key`)
      const chars = others.reduce((sum, { length }) => sum + length, 0)
      expect(stepsFor(others)).toBeLessThan(chars * 1.5)
    },
  )

  it('are refused by a search, and asked about in a call, if a stored pattern cannot be read', async () => {
    const { deniedTest } = createPermissions({ file: join(workdir, 'rules.json') })
    const stored = [rule('deny', '*', 'src/+(a|b)'), rule('allow', 'read_file')]
    expect(await deniedTest('find', { workdir, permissions: stored })).toMatchObject({ fault: { code: 'bad_request' } })
    expect(await judge('read_file', { path: 'src/c' }, stored)).toMatchObject({ verdict: 'unknown' })
    expect(await judge('shell', { command: 'cat src/c' }, stored)).toMatchObject({ verdict: 'ask' })
    expect(createPermissions({ file: join(workdir, 'rules.json') }).refuse(stored)).toMatchObject({
      fault: { code: 'bad_request' },
    })
  })
})
