import { ageForm } from '@holdfast/protocol/age'
import { describe, expect, it } from 'vitest'
import { type CommandName, commandSpecs } from '../commands.ts'
import { UsageError } from '../terminal/exit.ts'
import { parseArgs } from './parse-args.ts'

const parse = <Name extends CommandName>(name: Name, argv: readonly string[]) =>
  parseArgs(name, commandSpecs[name], argv)

const argsOf = (...argv: readonly string[]) => {
  const parsed = parse('run', argv)
  if (parsed === 'help') throw new Error(parsed)
  return parsed
}
const errorOf = (name: CommandName, ...argv: readonly string[]) => {
  try {
    return parse(name, argv) && null
  } catch (error) {
    return error instanceof UsageError ? error.message : null
  }
}

describe('parseArgs', () => {
  it('accepts positionals and flags in any order', () => {
    const { positionals, flags } = argsOf('--json', 'list the files', '-s', 'calm-harbor-12', '--model=demo/agent')
    expect(positionals).toEqual(['list the files'])
    expect(flags).toEqual({
      session: 'calm-harbor-12',
      continue: false,
      model: 'demo/agent',
      workdir: undefined,
      yes: false,
      no: false,
      plan: false,
      json: true,
    })
  })

  it('reads everything after -- as positionals', () => {
    expect(argsOf('--', '--yes').positionals).toEqual(['--yes'])
    expect(argsOf('-').positionals).toEqual(['-'])
  })

  it('rejects an unknown flag and suggests a similar one', () => {
    expect(errorOf('ls', '--jsn')).toBe("ls has no flag '--jsn'. Did you mean '--json'?")
    expect(errorOf('ls', '--wombat')).toBe("ls has no flag '--wombat'. See holdfast ls --help.")
    expect(errorOf('ls', '-x')).toBe("ls has no flag '-x'. See holdfast ls --help.")
    expect(errorOf('ls', '--__proto__')).toContain('has no flag')
    expect(errorOf('ls', '--constructor')).toContain('has no flag')
  })

  it('rejects a missing value, a value of a switch and a repeated flag', () => {
    expect(errorOf('run', 'hi', '--model')).toBe('--model needs a value: --model <model>.')
    expect(errorOf('run', '--model', '--yes', 'hi')).toBe('--model needs a value: --model <model>.')
    expect(errorOf('run', 'hi', '--yes=1')).toBe('--yes takes no value.')
    expect(errorOf('run', '--yes', '--yes', 'hi')).toBe('--yes was given twice.')
  })

  it('rejects missing and extra positionals', () => {
    expect(errorOf('show')).toBe('show needs <session>: holdfast show <session>.')
    expect(errorOf('tell', 'calm-harbor-12')).toBe(
      'tell needs <command>: holdfast tell <session> <command> [name=value…].',
    )
    expect(errorOf('run', 'list', 'files')).toBe(
      "'files' is one argument too many for run. Put text with spaces in quotes.",
    )
    expect(errorOf('ls', 'here')).toBe("ls takes no arguments, but got 'here'.")
    expect(parse('tell', ['a', 'sendPrompt', 'content=x', 'more=y'])).toHaveProperty('positionals')
  })

  it('returns help if any argument asks for it', () => {
    expect(parse('show', ['--help'])).toBe('help')
    expect(parse('show', ['-h', 'x'])).toBe('help')
  })

  it('returns numbers, ages and choices in their type', () => {
    const parsed = parse('ls', ['--limit', '7', '--age=2h'])
    expect(parsed).toMatchObject({ flags: { limit: 7, age: 7_200_000, cursor: undefined, all: false } })
    expect(errorOf('ls', '--limit', 'many')).toBe("--limit must be a whole number from 1 to 1000000, not 'many'.")
    expect(errorOf('serve', '--port=70000')).toBe("--port must be a whole number from 0 to 65535, not '70000'.")
    expect(errorOf('export', 'x', '--format', 'pdf')).toBe("--format must be md, html, json or jsonl, not 'pdf'.")
    expect(errorOf('ls', '--age', 'old')).toBe(`--age must be ${ageForm}, not 'old'.`)
  })

  it('rejects flags that exclude each other', () => {
    expect(errorOf('run', 'hi', '--yes', '--no')).toBe('Use either --yes or --no, not both.')
    expect(errorOf('ls', '--all', '--workspace', '/x')).toBe('Use either --all or --workspace, not both.')
  })

  it('does not repeat an argument that may be a key', () => {
    expect(errorOf('auth', 'login', 'openai', 'sk-secret')).not.toContain('sk-secret')
  })
})
