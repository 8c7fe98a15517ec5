import { aMeta } from '@holdfast/testkit/fixtures'
import { expect, it } from 'vitest'
import { keyEntry, keyNames } from '../keys/key-table.ts'
import { commandsFor, groupsOf, stillFound, titlesFirst } from './use-palette.ts'

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

it('shows of an earlier answer only what has the words that are typed by now', () => {
  const [lamp, docs] = [aMeta({ title: 'Lamp list' }), aMeta({ title: 'Docs' })]
  const found = { words: '', sessions: [lamp, docs], hits: [], isBusy: true, fault: null }
  expect(stillFound(found, '')).toBe(found)
  expect(stillFound(found, 'list lamp')).toEqual({ sessions: [lamp], hits: [] })
  expect(stillFound(found, 'list all keys')).toEqual({ sessions: [], hits: [] })
})

it('puts a command first whose name begins with the text, and sessions first otherwise', () => {
  const found = { sessions: [aMeta({ title: 'new lamp' })], hits: [] }
  const labels = (text: string) => groupsOf(commandsFor(keyNames, text), found, text).map(({ label }) => label)
  expect(labels('')).toEqual(['Recent sessions', 'Commands'])
  expect(labels('new')).toEqual(['Commands', 'Sessions'])
  expect(labels('session')).toEqual(['Sessions', 'Commands'])
})
