import { expect, it } from 'vitest'
import { sources } from './sources.ts'

/** A literal at a place where an expression may begin. */
const literal = /(?<=(?:^|[(,=:[!&|?{};]|\breturn)\s*)\/((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/[dgimsuvy]*/gm

/** A run such as `.*` or `\s+?`. */
const run = String.raw`(?:\.|\\[swdSWD]|\[(?:[^\]\\]|\\.)*\])[*+]`
/**
 * Quadratic in the blanks before the end: a lazy run, something that may be absent, a run of blanks and the end; or only a
 * run and the end, which is tried at every character of the run. A lookbehind for its beginning helps: `(?<!\n)\n+$`.
 */
const quadratic = [
  String.raw`(?:${run}\?)\)*(?:[^\\]\?)?(?:\\s|\[(?:[^\]\\]|\\[trnvf])*\])[*+]\)*\$`,
  String.raw`^(?:\\?[^\\()|^$]|\[(?:[^\]\\]|\\.)*\])[*+]\$$`,
].map((one) => new RegExp(one))

const findQuadratic = (text: string) =>
  [...text.matchAll(literal)].flatMap(([, found = '']) => (quadratic.some((one) => one.test(found)) ? [found] : []))

it('finds expressions that take quadratic time', () => {
  expect(findQuadratic(String.raw`const [, path] = /^@include[ \t]+(\S.*?)[ \t]*$/.exec(line)`)).toHaveLength(1)
  expect(findQuadratic(String.raw`config.matchAll(/^(path)[ \t]*=[ \t]*"?(.+?)"?[ \t\r]*$/gim)`)).toHaveLength(1)
  for (const end of ['/\\n+$/', '/\\s+$/u', '/[ .]+$/', '/ +$/'])
    expect(findQuadratic(`line.replace(${end}, '')`)).toHaveLength(1)
  expect(findQuadratic(String.raw`line.replace(/(?<!\n)\n+$/, '')`)).toHaveLength(0)
  expect(findQuadratic(String.raw`const it = /^@include[ \t]+(\S.*)$/.exec(line)`)).toHaveLength(0)
  expect(sources.reduce((sum, { text }) => sum + [...text.matchAll(literal)].length, 0)).toBeGreaterThan(500)
})

it('no expression trims a value at its end: trim it in code', () => {
  const found = sources.flatMap(({ path, text }) => findQuadratic(text).map((one) => `${path}: ${one}`))
  expect(found).toEqual([])
})
