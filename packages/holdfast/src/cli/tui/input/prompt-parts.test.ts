import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { completeCommands, completePaths, findCompletable } from './completion.ts'
import { emptyEditor, withText } from './editor.ts'
import { findDroppedFile } from './pasted-files.ts'
import { createPastes } from './pastes.ts'
import { openPromptHistory } from './prompt-history.ts'

describe('a paste', () => {
  it('is inserted as it is if it is short, and as a placeholder if it is long', () => {
    const pastes = createPastes()
    expect(pastes.add('short')).toBe('short')
    const long = 'line\n'.repeat(50)
    const placeholder = pastes.add(long)
    expect(placeholder).toBe('[pasted #1, 50 lines]')
    expect(pastes.toContent(`look: ${placeholder}`)).toEqual([{ type: 'text', text: `look: ${long}` }])
  })

  it.each([
    ['/tmp/a b.png', '/tmp/a b.png'],
    ["'/tmp/a.png'", '/tmp/a.png'],
    ['/tmp/a\\ b.png', '/tmp/a b.png'],
    ['file:///tmp/a.png', '/tmp/a.png'],
    ['look at /tmp/a.png', null],
    ['/tmp/a.ts', null],
  ])('of %j is the file %j', (pasted, path) => {
    expect(findDroppedFile(pasted)).toBe(path)
  })
})

describe('completion', () => {
  const commands = ['plan', 'pin', 'help'].map((name) => ({
    name,
    description: '',
    arguments: name === 'pin' ? '<x>' : null,
    source: 'built-in' as const,
    scope: null,
    path: null,
  }))

  it('finds slash commands at the start only, and mentions anywhere', () => {
    expect(findCompletable(withText(emptyEditor, '/pl'))).toEqual({ type: 'command', text: 'pl' })
    expect(findCompletable(withText(emptyEditor, 'see /pl'))).toBeNull()
    expect(findCompletable(withText(emptyEditor, 'see @src/a'))).toEqual({ type: 'path', text: 'src/a', start: 4 })
    expect(findCompletable(withText(emptyEditor, 'me@there'))).toBeNull()
  })

  it('puts the choice into the text', () => {
    const editor = withText(emptyEditor, '/p')
    expect(completeCommands('p', editor, commands).map(({ text }) => text)).toEqual(['/plan', '/pin ', '/help'])
    const [file, folder] = completePaths(4, withText(emptyEditor, 'see @s'), [
      { path: 's a.ts', type: 'file' },
      { path: 'src', type: 'folder' },
    ])
    expect([file?.text, folder?.text]).toEqual(['see @"s a.ts" ', 'see @src/'])
  })
})

describe('the history of prompts', () => {
  it('goes back and forth, keeps what was being typed, and survives a restart in a private file', () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'hf-history-'))
    const history = openPromptHistory({ stateDir })
    history.add('one')
    history.add('two\nlines')
    const later = openPromptHistory({ stateDir })
    expect([later.move(-1, 'typed'), later.move(-1, ''), later.move(-1, '')]).toEqual(['two\nlines', 'one', null])
    expect([later.move(1, ''), later.move(1, ''), later.move(1, '')]).toEqual(['two\nlines', 'typed', null])
    expect(statSync(join(stateDir, 'terminal-history.jsonl')).mode & 0o077).toBe(0)
    rmSync(stateDir, { recursive: true })
  })
})
