import { describe, expect, it } from 'vitest'
import { tellCommands } from '../commands/session/tell-help.ts'
import { type CommandName, commandGroups, commandNames, commandSpecs } from '../commands.ts'
import type { CommandSpec } from './command-spec.ts'
import { commandHelp, helpColumns, programHelp } from './help.ts'

const longLines = (text: string) => text.split('\n').filter((line) => line.length > 80)

const textsOf = (name: CommandName): readonly string[] => {
  const { about, flags, list }: CommandSpec = commandSpecs[name]
  return [about, ...Object.values(flags).map((flag) => flag.about), ...(list?.rows ?? []).map(([, text]) => text)]
}

describe('the help', () => {
  it('lists every command', () => {
    const help = programHelp('1.2.3', commandGroups, 80)
    expect(commandNames.filter((name) => !help.includes(`\n  ${name} `))).toEqual([])
    expect(longLines(help)).toEqual([])
  })

  it.each(commandNames)('of %s has every flag and fits in 80 columns', (name) => {
    const help = commandHelp(name, commandSpecs[name], 80)
    const { flags }: CommandSpec = commandSpecs[name]
    expect(Object.keys(flags).filter((flag) => !help.includes(`--${flag}`))).toEqual([])
    expect(longLines(help)).toEqual([])
  })

  it.each(commandNames)('of %s has texts of at most 60 characters that are not sentences', (name) => {
    expect(textsOf(name).filter((text) => text.length > 60 || /^[A-Z]|\.$/.test(text))).toEqual([])
  })

  it.each([40, 60, 100])('wraps at words to fit %i columns', (columns) => {
    const texts = [programHelp('1.2.3', commandGroups, columns), commandHelp('run', commandSpecs.run, columns)]
    const tooLong = texts.flatMap((text) => text.split('\n')).filter((line) => line.length > columns)
    expect(tooLong.filter((line) => line.trim().includes(' '))).toEqual([]) // one long word stays whole
  })

  it('is as wide as the terminal, within reason', () => {
    expect([null, 20, 64, 300].map((columns) => helpColumns({ columns }))).toEqual([80, 40, 64, 100])
  })

  it('of tell lists every command of a session', () => {
    const help = commandHelp('tell', commandSpecs.tell, 80)
    expect(Object.keys(tellCommands).filter((type) => !new RegExp(`^  ${type}( |$)`, 'm').test(help))).toEqual([])
  })
})
