import { describe, expect, it } from 'vitest'
import { parseFetchResult, parseFileResult, parseSearchResult } from './read-result.ts'

describe('results of tools', () => {
  it('takes the lines of a file from their numbers, and its notes', () => {
    expect(parseFileResult('7\ta\n8\t\n9\tb\tc\n[no line feed at the end of the file]')).toEqual({
      first: 7,
      text: 'a\n\nb\tc',
      lines: 3,
      notes: ['no line feed at the end of the file'],
    })
    for (const other of ['[file is empty]', 'plain', '1\ta\n3\tb', '', '[note]\n1\ta'])
      expect(parseFileResult(other)).toBeNull()
  })

  it('takes a search apart by file', () => {
    expect(parseSearchResult('a.ts\n1:x\n2-y\n\nb.ts\n9:z\n[1 to 2 of 5]')).toEqual({
      files: [
        {
          path: 'a.ts',
          lines: [
            { number: 1, text: 'x', isMatch: true },
            { number: 2, text: 'y', isMatch: false },
          ],
        },
        { path: 'b.ts', lines: [{ number: 9, text: 'z', isMatch: true }] },
      ],
      notes: ['1 to 2 of 5'],
    })
    expect(parseSearchResult('src/\na.ts').files.map(({ path }) => path)).toEqual(['src/', 'a.ts'])
    expect(parseSearchResult('[nothing matches x]')).toEqual({ files: [], notes: ['nothing matches x'] })
  })

  it('takes what a page is from its text', () => {
    expect(parseFetchResult('[https://a.test, text/html, 9 bytes.]\n\n# Lamp')).toEqual({
      about: 'https://a.test, text/html, 9 bytes.',
      text: '# Lamp',
    })
    expect(parseFetchResult('https://a.test redirects')).toBeNull()
  })
})
