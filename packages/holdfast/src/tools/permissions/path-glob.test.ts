import fc from 'fast-check'
import picomatch from 'picomatch'
import { describe, expect, it } from 'vitest'
import { compilePathGlob, globProblem } from './path-glob.ts'

const matches = (pattern: string, path: string) => compilePathGlob(pattern)?.(path)

const piece = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', '.', 'ab') },
  { weight: 4, arbitrary: fc.constantFrom('*', '?', '[ab]', '[a-b]', '[^a]', '{a,b}', '{a,.b}', '\\*') },
)
const name = fc
  .array(piece, { minLength: 1, maxLength: 4 })
  .map((pieces) => pieces.join(''))
  .filter((text) => !text.includes('**') && !/^\.{1,2}$/.test(text))
const globs = fc
  .array(fc.oneof({ weight: 2, arbitrary: name }, { weight: 1, arbitrary: fc.constant('**') }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((names) => names.join('/'))
const pathName = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '['), minLength: 1, maxLength: 3 })
const paths = fc
  .array(
    pathName.filter((text) => !text.endsWith('.')), // for the library, `a.*` is not `a.`
    { minLength: 1, maxLength: 4 },
  )
  .map((names) => names.join('/'))

describe('a glob of a rule', () => {
  it('matches what the usual library for globs matches', () => {
    fc.assert(
      fc.property(globs, fc.array(paths, { minLength: 1, maxLength: 20 }), (glob, given) => {
        const expected = picomatch(glob, { dot: true, nonegate: true })
        for (const path of given) expect([glob, path, matches(glob, path)]).toEqual([glob, path, expected(path)])
      }),
      { numRuns: 3000 },
    )
  })

  it.each([
    ['secrets/**', 'secrets', true],
    ['secrets/**', 'secrets/a/.b', true],
    ['secrets/**', 'secretsx', false],
    ['**/.env', '.env', true],
    ['**/.env', 'a/b/.env', true],
    ['**/.env', 'a.env', false],
    ['**.pem', 'a/b.pem', true],
    ['**', '../a', false],
    ['*', '.', false],
    ['../**', '../a/b', true],
    ['{secrets/**,*.{key,pem}}', 'secrets/a', true],
    ['{secrets/**,*.{key,pem}}', 'a.pem', true],
    ['{secrets/**,*.{key,pem}}', 'a.pen', false],
    ['app/[id].ts', 'app/[id].ts', true],
    ['app/[id].ts', 'app/d.ts', true],
    ['\\(a\\)/*', '(a)/b', true],
    ['**/.env', 'a\nb/.env', true],
  ])('%s on %j is %s', (pattern, path, fits) => {
    expect(matches(pattern, path)).toBe(fits)
  })

  it.each([
    ['**/*a*a*a*a*a*b', (n: number) => 'a'.repeat(n)],
    ['**/*-*-*.pem', (n: number) => `${'-'.repeat(n)}!.pem/x.pem!.pem`],
    ['**/a/**/b/**/c', (n: number) => `${'a/b/'.repeat(n / 4)}xc`],
    ['{a*,a*}{a*,a*}{a*,a*}{a*,a*}b', (n: number) => `${'a'.repeat(n)}cb`],
    ['**/**/**/**/b', (n: number) => `${'a/'.repeat(n / 2)}ab`],
  ])('%s takes twice the steps for twice the path', (pattern, pathOf) => {
    const stepsAt = (length: number) => {
      const work = { steps: 0 }
      compilePathGlob(pattern)?.(pathOf(length), work)
      return work.steps
    }
    expect(stepsAt(4000)).toBeLessThanOrEqual(stepsAt(2000) * 2.1)
    expect(stepsAt(4000)).toBeLessThan(4000 * pattern.length * 3)
  })

  it.each(['+(a|b)', '!(a)', 'a|b', '{1..9}', '[ab]+', '"a"', '[!a]'])('%s is refused, with the reason', (pattern) => {
    expect(compilePathGlob(pattern)).toBeNull()
    expect(globProblem(pattern)).toContain('Write \\ before a character')
  })
})
