import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keyEntry, keyNames } from './key-table.ts'
import { type KeyPress, keysOf, matchesKey } from './match-key.ts'

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: '',
  keyCode: 0,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  isComposing: false,
  ...more,
})

describe('the table of keys', () => {
  it('gives a combination to one command only, where both could be meant', () => {
    const used = keyNames.flatMap((name) => {
      const { keys, place, group } = keyEntry(name)
      return keys.map((one) => (place === 'on the element' ? `${one} in ${group}` : one))
    })
    expect(used.filter((one, index) => used.indexOf(one) !== index)).toEqual([])
  })

  it('uses no key that browsers keep', () => {
    const kept = /^Ctrl\+(Shift\+)?([NTWLF]|[0-9]|Tab)$|^Ctrl\+Shift\+I$/
    expect(keyNames.flatMap((name) => keyEntry(name).keys).filter((one) => kept.test(one))).toEqual([])
  })

  it('has one short text for each, without a full stop', () => {
    const texts = keyNames.map((name) => keyEntry(name).text)
    expect(texts.filter((text) => text.length > 45 || text.endsWith('.'))).toEqual([])
  })
})

describe('a pressed key', () => {
  it('matches with exactly its modifiers; Ctrl is Command on a Mac', () => {
    expect(matchesKey(press('k', { ctrlKey: true }), 'Ctrl+K', false)).toBe(true)
    expect(matchesKey(press('k', { metaKey: true }), 'Ctrl+K', true)).toBe(true)
    expect(matchesKey(press('k', { ctrlKey: true }), 'Ctrl+K', true)).toBe(false)
    expect(matchesKey(press('K', { ctrlKey: true, shiftKey: true }), 'Ctrl+K', false)).toBe(false)
    expect(matchesKey(press('k'), 'Ctrl+K', false)).toBe(false)
    expect(matchesKey(press('j'), 'J', false)).toBe(true)
  })

  it('matches a sign with or without Shift, and a letter with Alt by its place', () => {
    expect(matchesKey(press('?', { shiftKey: true }), '?', false)).toBe(true)
    expect(matchesKey(press('?'), '?', false)).toBe(true)
    const other = { code: 'KeyA', altKey: true, shiftKey: true }
    expect(matchesKey(press('Å', other), 'Shift+Alt+A', true)).toBe(true)
  })

  it('counts for nothing while a character is composed', () => {
    expect(matchesKey(press('Enter', { isComposing: true }), 'Enter', false)).toBe(false)
    expect(matchesKey(press('Enter', { keyCode: 229 }), 'Enter', false)).toBe(false)
  })

  it('is shown as people read it', () => {
    expect(keysOf('Shift+Alt+ArrowUp', false)).toEqual(['Shift', 'Alt', '↑'])
    expect(keysOf('Ctrl+Shift+O', true)).toEqual(['⌘', '⇧', 'O'])
  })
})

/** The browser itself opens the context menu with it. */
const native: readonly string[] = ['rowMenu']

it('names no key that nothing reads', () => {
  const source = globSync('**/*.{ts,tsx}', { cwd: resolve(import.meta.dirname, '..') })
    .filter((path) => !path.startsWith('keys/') && !path.includes('.test.'))
    .map((path) => readFileSync(resolve(import.meta.dirname, '..', path), 'utf8'))
    .join('\n')
  const isRead = (name: string) => source.includes(`'${name}'`) || source.includes(`"${name}"`) || answers.test(name)
  expect(keyNames.filter((name) => !native.includes(name) && !isRead(name))).toEqual([])
})

/** They are the fields of a table. */
const answers = /^(approve(Once|Turn|Session|Always)|reject)$/
