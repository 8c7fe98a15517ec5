import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { highlight } from './highlight.ts'
import { languageOf, languageOfPath } from './language-names.ts'
import { builtIn, lazy } from './languages.ts'

describe('the colours of code', () => {
  it('names what each piece is', async () => {
    expect(await highlight('ts', 'const a = "b" // c')).toEqual([
      ['keyword', 'const'],
      ['', ' a = '],
      ['string', '"b" '],
      ['comment', '// c'],
    ])
    expect(await highlight('diff', '+a\n-b')).toEqual([
      ['added', '+a\n'],
      ['removed', '-b'],
    ])
  })

  it('loads a further language when it is needed, also by its alias', async () => {
    expect(await highlight('rb', 'def a; end')).toContainEqual(['keyword', 'def '])
    expect(await highlight('C++', 'int a;')).toContainEqual(['type', 'int'])
    expect(await highlight('toml', 'a = 1')).toContainEqual(['property', 'a'])
  })

  it('knows nothing of other languages, also with the names of fields of objects', async () => {
    for (const name of ['nolanguage', 'constructor', '__proto__', 'toString'])
      expect(await highlight(name, 'a')).toBeNull()
  })

  it('gives back every text, in every language', async () => {
    const names = [...Object.keys(builtIn), ...Object.keys(lazy)]
    const sources = fc.tuple(fc.constantFrom(...names), fc.string({ unit: 'binary', maxLength: 60 }))
    await fc.assert(
      fc.asyncProperty(sources, async ([name, text]) => {
        const pieces = await highlight(name, text)
        expect(pieces?.map(([, piece]) => piece).join('')).toBe(text)
      }),
      { numRuns: 200 },
    )
  })

  it('finds the language of a file', () => {
    expect(['a/b.test.ts', 'C:\\x\\Dockerfile', 'noext', '.env', 'x.RS', 'end.'].map(languageOfPath)).toEqual([
      ...['ts', 'dockerfile', '', '', 'rs', ''],
    ])
    expect(languageOf('C#')).toBe('csharp')
  })
})
