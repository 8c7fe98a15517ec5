import type { Preview } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { toShow } from './preview.ts'

const hidden = 'a\u202eb\u001bc\u{e0041}'
const shown = 'a\\u{202e}b\\u{1b}c\\u{e0041}'

it.each<[Preview, Preview]>([
  [
    { type: 'command', command: `${hidden}\n\tnext`, cwd: hidden },
    { type: 'command', command: `${shown}\n\tnext`, cwd: shown },
  ],
  [
    { type: 'diff', path: hidden, diff: `+${hidden}\n` },
    { type: 'diff', path: shown, diff: `+${shown}\n` },
  ],
  [
    { type: 'arguments', args: { [hidden]: [hidden, { deep: hidden, count: 1, none: null }] } },
    { type: 'arguments', args: { [shown]: [shown, { deep: shown, count: 1, none: null }] } },
  ],
])('escapes hidden characters', (preview, expected) => {
  expect(toShow(preview)).toEqual(expected)
})
