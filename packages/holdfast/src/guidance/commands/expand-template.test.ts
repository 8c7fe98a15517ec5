import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { expandTemplate } from './expand-template.ts'

const textOf = (template: string, given: string, names?: readonly string[]): string =>
  expandTemplate({ template, names }, given)
    .map((piece) => (piece.type === 'text' ? piece.text : `<${piece.command}>`))
    .join('')

describe('a template of a slash command', () => {
  it.each([
    ['Fix $ARGUMENTS', '12 "a b"', 'Fix 12 "a b"'],
    ['PR $1 prio $2', '456 high', 'PR 456 prio high'],
    ['PR $0 prio $1', '456 high', 'PR 456 prio high'],
    ['$1|$2', '"hello world" x', 'hello world|x'],
    ['$1 and $3', 'one', 'one and $3'],
    ['No holes', 'x y', 'No holes\n\nARGUMENTS: x y'],
    ['No holes', '  ', 'No holes'],
    ['cost \\$1.00, $1', 'tea', 'cost $1.00, tea'],
    [
      '$1: from $0.50 to $1.50, or $2,000, or $1M a year',
      'tea cup',
      'tea: from $0.50 to $1.50, or $2,000, or $1M a year',
    ],
    ['src/$1.ts, $1,$2', 'a b', 'src/a.ts, a,b'],
    ['$ARGUMENTS', '$1 `id` $ARGUMENTS', '$1 `id` $ARGUMENTS'],
    ['$ARGUMENTS', '!`id`', '!`id`'],
    ['$ARGUMENTS[1]-$ARGUMENTS[0]', 'a b', 'b-a'],
    ['$1|$2', "it's fine", "it's|fine"],
    ['$10 $1', 'a b c d e f g h i j', 'j a'],
    ['$HOME and $ARGUMENTSX', '', '$HOME and $ARGUMENTSX'],
    ['$1', "'a b'", 'a b'],
    ['$1', '', '$1'],
  ])('%s with %s is %s', (template, given, expected) => {
    expect(textOf(template, given)).toBe(expected)
  })

  it('names its arguments, and a missing one is empty', () => {
    expect(textOf('on $issue by $branch, $issues', '7', ['issue', 'branch'])).toBe('on 7 by , $issues')
  })

  it('has shell commands at the start of a line, after a space and in a block', () => {
    expect(textOf('!`a`\nsee !`b` and x!`c`\n```!\nd\ne\n```\nend', '')).toBe('<a>\nsee <b> and x!`c`\n<d\ne>\nend')
  })

  it.each(["'; rm -rf x'", '"a\'b; id"', '$(id)', '`id`', '-x', 'a\\'])('gives %s to a shell as one word', (given) => {
    const [piece] = expandTemplate({ template: '!`printf "[%s]" $1`' }, given)
    if (piece?.type !== 'command') throw new Error('no command')
    const word = given.replace(/^(['"])(.*)\1$/, '$2')
    expect(execFileSync('sh', ['-c', piece.command], { encoding: 'utf8' })).toBe(`[${word}]`)
  })
})
