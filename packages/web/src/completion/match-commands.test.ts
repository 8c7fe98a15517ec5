import type { SlashCommand } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { completedText, matchCommands } from './match-commands.ts'

const command = (name: string, named: string | null = null): SlashCommand => ({
  name,
  description: '',
  arguments: named,
  source: 'file',
  scope: 'user',
  path: `/${name}.md`,
})
const all = [command('fix', '<issue>'), command('git:fix'), command('plan')]
const namesFor = (text: string) => matchCommands(all, text).map(({ name }) => name)

describe('completion of slash commands', () => {
  it('offers all after a slash, and those that begin with a text before those that contain it', () => {
    expect(namesFor('/')).toEqual(['fix', 'git:fix', 'plan'])
    expect(namesFor('/F')).toEqual(['fix', 'git:fix'])
    expect(namesFor('/none')).toEqual([])
  })

  it('offers nothing in another text, and once the name is complete', () => {
    for (const text of ['', 'fix', ' /fix', '/fix 12', '/etc/hosts']) expect(namesFor(text)).toEqual([])
  })

  it('leaves room for arguments', () => {
    expect(all.map(completedText)).toEqual(['/fix ', '/git:fix', '/plan'])
  })
})
