import { describe, expect, it } from 'vitest'
import { parseArgs } from './parse-args.ts'

const argsOf = (...argv: readonly string[]) => {
  const parsed = parseArgs('run', argv)
  if (parsed.type !== 'args') throw new Error(JSON.stringify(parsed))
  return parsed.args
}
const misuseOf = (name: Parameters<typeof parseArgs>[0], ...argv: readonly string[]) => {
  const parsed = parseArgs(name, argv)
  return parsed.type === 'misused' ? parsed.message : null
}

describe('the arguments of a command', () => {
  it('are words and flags, in any order', () => {
    const { words, flags } = argsOf('--json', 'list the files', '-s', 'calm-harbor-12', '--model=demo/agent')
    expect(words).toEqual(['list the files'])
    expect(flags).toEqual({
      session: 'calm-harbor-12',
      model: 'demo/agent',
      workdir: undefined,
      yes: false,
      no: false,
      plan: false,
      json: true,
    })
  })

  it('are words after --, whatever they look like', () => {
    expect(argsOf('--', '--yes').words).toEqual(['--yes'])
    expect(argsOf('-').words).toEqual(['-'])
  })

  it('name an unknown flag and the nearest known one', () => {
    expect(misuseOf('ls', '--jsn')).toBe("Unknown flag '--jsn' of ls. Did you mean '--json'?")
    expect(misuseOf('ls', '--wombat')).toBe("Unknown flag '--wombat' of ls.")
    expect(misuseOf('ls', '-x')).toBe("Unknown flag '-x' of ls.")
    expect(misuseOf('ls', '--__proto__')).toContain('Unknown flag')
    expect(misuseOf('ls', '--constructor')).toContain('Unknown flag')
  })

  it('say what a flag needs', () => {
    expect(misuseOf('run', 'hi', '--model')).toBe('--model needs a value: --model <provider/model>.')
    expect(misuseOf('run', '--model', '--yes', 'hi')).toBe('--model needs a value: --model <provider/model>.')
    expect(misuseOf('run', 'hi', '--yes=1')).toBe('--yes is a switch and takes no value.')
    expect(misuseOf('run', '--yes', '--yes', 'hi')).toBe('--yes is given twice.')
  })

  it('count the words', () => {
    expect(misuseOf('show')).toBe('show needs <session>.')
    expect(misuseOf('tell', 'calm-harbor-12')).toBe('tell needs <command>.')
    expect(misuseOf('run', 'list', 'files')).toBe(
      "run does not know what to do with 'files'. If it belongs together, put it in quotes.",
    )
    expect(misuseOf('ls', 'here')).toBe("ls does not know what to do with 'here'.")
    expect(parseArgs('tell', ['a', 'sendPrompt', 'content=x', 'more=y']).type).toBe('args')
  })

  it('give way to a request for help', () => {
    expect(parseArgs('show', ['--help'])).toEqual({ type: 'help' })
    expect(parseArgs('show', ['-h', 'x'])).toEqual({ type: 'help' })
  })
})
