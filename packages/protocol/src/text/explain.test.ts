import { describe, expect, it } from 'vitest'
import { Command, unknownCommand } from '../command/command.ts'
import { explainIssue } from './explain.ts'

const explained = (value: unknown): string => {
  const { error } = Command.safeParse(value)
  return error ? explainIssue(error) : 'nothing is wrong'
}

describe('what is wrong with a command', () => {
  it.each([
    [{ type: 'sendPrompt' }, 'content: missing; give what to say, as a text or a list of parts'],
    [{ type: 'sendPrompt', content: 3 }, 'content: give what to say, as a text or a list of parts'],
    [
      { type: 'respondToApproval' },
      'decision: missing; give approve, approve_turn, approve_session, approve_always or reject',
    ],
    [
      { type: 'respondToApproval', decision: 'maybe' },
      'decision: give approve, approve_turn, approve_session, approve_always or reject',
    ],
  ])('%j is told as a person can act on it', (value, message) => {
    expect(explained(value)).toBe(message)
  })

  it('is told where it is, inside one of several forms too', () => {
    expect(explained({ type: 'sendPrompt', content: [{ type: 'text' }] })).toMatch(/^content\.0\.text: /)
  })
})

describe('a command that does not exist', () => {
  it('is named, with the nearest one or all there are', () => {
    expect(unknownCommand('abrt')).toBe("There is no command abrt. Did you mean 'abort'?")
    expect(unknownCommand('wombat')).toMatch(/^There is no command wombat\. Known are: sendPrompt, /)
    expect(unknownCommand(`a\u001b\n${'x'.repeat(1000)}`)).toMatch(/^There is no command a\\u\{1b\}\\nx{97}\. /)
  })
})
