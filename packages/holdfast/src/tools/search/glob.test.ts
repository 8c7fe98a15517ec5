import { describe, expect, it } from 'vitest'
import { compileGlob } from './glob.ts'

const matches = (pattern: string, path: string) => compileGlob(pattern)?.(path)

describe('a glob', () => {
  it.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'src/deep/a.ts', true],
    ['*.ts', 'a.tsx', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/x/y/a.ts', true],
    ['**/*.ts', 'a.ts', true],
    ['**/test/**', 'a/test/b/c', true],
    ['./src/a.ts', 'src/a.ts', true],
    ['/a.ts', 'b/a.ts', false],
    ['/a.ts', 'a.ts', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a?c', 'a🐢c', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[', '[', true],
    ['*.{ts,tsx}', 'a.tsx', true],
    ['{src,test}/{a,b{1,2}}.ts', 'test/b2.ts', true],
    ['{src,test}/{a,b{1,2}}.ts', 'test/b3.ts', false],
    ['{a', '{a', true],
    ['\\*.ts', '*.ts', true],
    ['\\*.ts', 'a.ts', false],
    ['a*b*c', 'aXbXbXc', true],
    ['$&.(x)+', '$&.(x)+', true],
  ])('%s on %s is %s', (pattern, path, fits) => {
    expect(matches(pattern, path)).toBe(fits)
  })

  it('takes linear time for a pattern that makes regular expressions slow', () => {
    const name = 'a'.repeat(250)
    expect(matches(`${'*a'.repeat(60)}b`, name)).toBe(false)
    expect(matches(`${'**/a/'.repeat(60)}b`, 'a/'.repeat(500))).toBe(false)
  })

  it('is refused if its braces expand to too many patterns', () => {
    expect(compileGlob('{a,b}'.repeat(30))).toBeNull()
  })
})
