import type { Permission } from '@holdfast/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fits, permitted } from './permission.ts'

const shell = (target: string) => ({ tool: 'shell', target })
const rule = (pattern: string | undefined, verdict: Permission['verdict'], tool = 'shell'): Permission => ({
  tool,
  verdict,
  ...(pattern !== undefined && { pattern }),
})

describe('permission rules', () => {
  it('do not apply to tools they do not name', () => {
    expect(permitted([rule('git status', 'allow')], shell('git log'))).toBeNull()
    expect(permitted([rule(undefined, 'deny', 'write_file')], shell('ls'))).toBeNull()
  })

  it('let deny beat ask beat allow, in any order', () => {
    const rules = [rule('git *', 'allow'), rule('git push*', 'ask'), rule('git push --force*', 'deny')]
    for (const order of [rules, rules.toReversed()]) {
      expect(permitted(order, shell('git status'))).toBe('allow')
      expect(permitted(order, shell('git push'))).toBe('ask')
      expect(permitted(order, shell('git push --force origin'))).toBe('deny')
    }
  })

  it.each([
    'git status; rm x',
    'git status && rm x',
    'git status | sh',
    'git status & rm x',
    'git status\nrm x',
    'git status\rrm x',
    'git status $(rm x)',
    'git status `rm x`',
    'git status <(rm x)',
    'git status > ~/.bashrc',
    `git status \${IFS}x`,
    "git status $'\\x72m'",
    'git status "unbalanced',
    'git status *',
    `${'true; '.repeat(60)}git status`,
  ])('never allow %j by a pattern: a shell can hide one command in another', (command) => {
    expect(permitted([rule('git status*', 'allow'), rule('*git status', 'allow')], shell(command))).toBeNull()
  })

  it('ask about a command that may hide a denied one', () => {
    const rules = [rule('rm *', 'deny'), rule(undefined, 'allow')]
    expect(permitted(rules, shell('rm x'))).toBe('deny')
    expect(permitted(rules, shell('true; rm x'))).toBe('ask')
    expect(permitted(rules, shell('ls'))).toBe('allow')
  })

  it('ask about a command that may hide one to be asked about', () => {
    const rules = [rule('git push*', 'ask'), rule(undefined, 'allow')]
    expect(permitted(rules, shell('true; git push'))).toBe('ask')
    expect(permitted(rules, shell('git status'))).toBe('allow')
  })

  it('apply to every tool with the name *', () => {
    expect(permitted([rule('secret/*', 'deny', '*')], { tool: 'read_file', target: 'secret/key' })).toBe('deny')
  })
})

describe('a pattern', () => {
  it('matches any text with *, and everything else literally', () => {
    expect(fits('a*c', 'abbbc')).toBe(true)
    expect(fits('a*c', 'ac')).toBe(true)
    expect(fits('a*c', 'acd')).toBe(false)
    expect(fits('ab*ba', 'aba')).toBe(false)
    expect(fits('*', '')).toBe(true)
    expect(fits('a.c', 'abc')).toBe(false)
    expect(fits('*', null)).toBe(false)
  })

  it('agrees with a regular expression of the same meaning', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
    fc.assert(
      fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }), (pattern, text) => {
        expect(fits(pattern, text)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text))
      }),
    )
  })
})
