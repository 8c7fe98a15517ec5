import { describe, expect, it } from 'vitest'
import { tellCommands } from '../commands/session/tell-help.ts'
import { commandNames, commandSpecs } from '../commands.ts'
import { isTuiArgument } from '../program.ts'
import { tuiSpec } from '../tui/spec.ts'
import { complete } from './next-words.ts'

const tell = Object.entries(tellCommands).map(([word, [, about]]) => ({ word, about }))
const vocabulary = {
  specs: commandSpecs,
  tellCommands: tell,
  terminal: tuiSpec,
  isTerminalArgument: isTuiArgument,
}
const completed = (...typed: readonly string[]) => complete(typed, vocabulary)
const wordsOf = (...typed: readonly string[]) => {
  const found = completed(...typed)
  return found.type === 'words' ? found.words.map(({ word }) => word) : found.type
}

describe('completion', () => {
  it('offers every command, also after help', () => {
    expect(wordsOf('')).toEqual([...commandNames, 'help', 'version'])
    expect(wordsOf('help', '')).toEqual(commandNames)
  })

  it('offers the flags of a command', () => {
    expect(wordsOf('pin', '--')).toEqual(['--off', '--store', '--url', '--token-file', '--json', '--help'])
  })

  it.each([
    [['show', ''], 'sessions'],
    [['run', '-s', ''], 'sessions'],
    [['run', '--model', ''], 'models'],
    [['--model', ''], 'models'],
    [['-c', '--model', ''], 'models'],
    [['show', '--branch', ''], 'nothing'],
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

  it('offers what opens the terminal UI: its flags, and a session once a word is begun', () => {
    expect(wordsOf('-')).toEqual(expect.arrayContaining(['-c', '-r', '--model', '--plain', '--help', '--version']))
    expect(wordsOf('-c', '--')).toContain('--plain')
    expect(wordsOf('calm-harbor-12', '--')).toContain('--mouse')
    expect(completed('cal')).toMatchObject({ type: 'words', orSession: true })
    expect(completed('')).not.toHaveProperty('orSession')
  })

  it('offers the branches of the session that is named', () => {
    expect(completed('show', 'calm-harbor-12', '--branch', '')).toEqual({
      type: 'branches',
      session: 'calm-harbor-12',
    })
    expect(completed('switch', 'calm-harbor-12', '')).toEqual({ type: 'branches', session: 'calm-harbor-12' })
  })

  it('offers the choices of a flag, the actions of a command, and the commands of a session', () => {
    expect(wordsOf('export', 'x', '--format', '')).toEqual(['md', 'html', 'json', 'jsonl'])
    expect(wordsOf('config', '')).toEqual(['list', 'get', 'set', 'unset', 'edit', 'path'])
    expect(wordsOf('tell', 'x', '')).toContain('respondToApproval')
  })

  it('offers the settings of config and their values, and verdicts, tools and rules of permissions', () => {
    expect(complete(['config', 'set', ''], vocabulary)).toEqual({ type: 'settings' })
    expect(complete(['config', 'set', 'sandbox', ''], vocabulary)).toEqual({ type: 'values', setting: 'sandbox' })
    for (const action of ['list', 'edit', 'path'])
      expect(complete(['config', action, ''], vocabulary)).toEqual({ type: 'nothing' })
    expect(complete(['config', 'get', 'sandbox', ''], vocabulary)).toEqual({ type: 'nothing' })
    expect(complete(['permissions', 'add', ''], vocabulary)).toMatchObject({
      words: [{ word: 'allow' }, { word: 'ask' }, { word: 'deny' }],
    })
    expect(complete(['permissions', 'add', 'allow', ''], vocabulary)).toEqual({ type: 'tools' })
    expect(complete(['permissions', 'remove', ''], vocabulary)).toEqual({ type: 'rules' })
    expect(complete(['permissions', 'list', ''], vocabulary)).toEqual({ type: 'nothing' })
  })
})
