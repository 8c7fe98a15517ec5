import { describe, expect, it } from 'vitest'
import { type CommandName, type CommandSpec, commandNames, commandTable } from './command-specs.ts'
import { commandHelp, programHelp } from './help.ts'
import { tellCommands } from './tell-help.ts'

const longLines = (text: string) => text.split('\n').filter((line) => line.length > 80)

const textsOf = (name: CommandName): readonly string[] => {
  const { about, flags, list }: CommandSpec = commandTable[name]
  return [about, ...Object.values(flags).map((flag) => flag.about), ...(list?.rows ?? []).map(([, text]) => text)]
}

describe('the help', () => {
  it('lists every command', () => {
    const help = programHelp('1.2.3')
    expect(commandNames.filter((name) => !help.includes(`\n  ${name} `))).toEqual([])
    expect(longLines(help)).toEqual([])
  })

  it.each(commandNames)('of %s has every flag and fits in 80 columns', (name) => {
    const help = commandHelp(name)
    const { flags }: CommandSpec = commandTable[name]
    expect(Object.keys(flags).filter((flag) => !help.includes(`--${flag}`))).toEqual([])
    expect(longLines(help)).toEqual([])
  })

  it.each(commandNames)('of %s has texts of at most 60 characters that are not sentences', (name) => {
    expect(textsOf(name).filter((text) => text.length > 60 || /^[A-Z]|\.$/.test(text))).toEqual([])
  })

  it('of tell lists every command of a session', () => {
    const help = commandHelp('tell')
    expect(Object.keys(tellCommands).filter((type) => !new RegExp(`^  ${type}( |$)`, 'm').test(help))).toEqual([])
  })
})
