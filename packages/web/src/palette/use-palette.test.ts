import { aMeta } from '@holdfast/testkit/fixtures'
import { expect, it } from 'vitest'
import { keyEntry, keyNames } from '../keys/key-table.ts'
import { commandsFor, titlesFirst } from './use-palette.ts'

const texts = (text: string, names = keyNames) =>
  commandsFor(names, text).map((entry) => (entry.kind === 'command' ? entry.text : ''))

it('offers every command of the table that can be used now, and no key that needs a focus', () => {
  expect(texts('', ['newSession', 'rowPin', 'palette', 'stop'])).toEqual(['New session', 'Stop the agent'])
  expect(texts('').length).toBe(keyNames.filter((name) => !keyEntry(name).isOutOfPalette).length)
})

it('finds a command by some of its words, in any order and case', () => {
  expect(texts('SESSION new')).toEqual(['New session'])
  expect(texts('trash')).toEqual(expect.arrayContaining(['Open the trash', 'Move this session to the trash']))
  expect(texts('open')[0]).toMatch(/^Open/)
})

it('lists the sessions first whose titles have the text', () => {
  const [lamp, docs] = [aMeta({ title: 'lamp' }), aMeta({ title: 'Docs' })]
  expect(titlesFirst([lamp, docs], 'doc')).toEqual([docs, lamp])
})
