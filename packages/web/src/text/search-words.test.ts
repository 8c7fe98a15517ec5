import { expect, it } from 'vitest'
import { splitAtWords, withBeginning } from './search-words.ts'

it('searches for words that begin with what was typed last', () => {
  expect(withBeginning('lamp fi')).toBe('lamp fi*')
  expect(withBeginning('lamp f')).toBe('lamp f') // the server wants two letters
  expect(withBeginning('"a phrase"')).toBe('"a phrase"')
})

it('marks the words in a snippet, in any case, and takes no pattern from it', () => {
  expect(splitAtWords('The Lamp is (lamp)', 'lamp')).toEqual(['The ', 'Lamp', ' is (', 'lamp', ')'])
  expect(splitAtWords('a.b', '.*')).toEqual(['a.b'])
})
