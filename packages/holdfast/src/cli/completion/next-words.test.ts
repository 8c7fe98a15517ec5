import { describe, expect, it } from 'vitest'
import { tellCommands } from '../commands/session/tell-help.ts'
import { commandNames, commandSpecs } from '../commands.ts'
import { complete } from './next-words.ts'

const tell = Object.entries(tellCommands).map(([word, [, about]]) => ({ word, about }))
const completed = (...typed: readonly string[]) => complete(typed, { specs: commandSpecs, tellCommands: tell })
const wordsOf = (...typed: readonly string[]) => {
  const found = completed(...typed)
  return found.type === 'words' ? found.words.map(({ word }) => word) : found.type
}

describe('completion', () => {
  it('offers every command, also after help', () => {
    expect(wordsOf('')).toEqual([...commandNames, 'help'])
    expect(wordsOf('help', '')).toEqual(commandNames)
  })

  it('offers the flags of a command', () => {
    expect(wordsOf('pin', '--')).toEqual(['--off', '--store', '--url', '--token-file', '--json', '--help'])
  })

  it.each([
    [['show', ''], 'sessions'],
    [['run', '-s', ''], 'sessions'],
    [['run', '--model', ''], 'models'],
    [['rm', 'calm-harbor-12', ''], 'sessions'],
    [['trash', 'restore', ''], 'trashed'],
    [['auth', 'login', ''], 'providers'],
    [['import', 'a.jsonl', ''], 'files'],
    [['export', 'x', '-o', ''], 'files'],
    [['rename', 'x', 'title', ''], 'nothing'],
    [['nonsense', ''], 'nothing'],
  ])('offers names of the right kind: %j gives %s', (typed, kind) => {
    expect(wordsOf(...typed)).toBe(kind)
  })

  it('offers the branches of the session that is named', () => {
    expect(completed('switch', 'calm-harbor-12', '')).toEqual({ type: 'branches', session: 'calm-harbor-12' })
  })

  it('offers the choices of a flag, the actions of a command, and the commands of a session', () => {
    expect(wordsOf('export', 'x', '--format', '')).toEqual(['md', 'html', 'json', 'jsonl'])
    expect(wordsOf('config', '')).toEqual(['list', 'get', 'set', 'unset', 'edit', 'path'])
    expect(wordsOf('tell', 'x', '')).toContain('respondToApproval')
  })
})
