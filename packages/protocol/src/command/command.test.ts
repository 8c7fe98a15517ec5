import { describe, expect, it } from 'vitest'
import { explainIssue } from '../text/explain.ts'
import { Command, commandFault, unknownCommand } from './command.ts'

const explained = (value: unknown): string => {
  const { error } = Command.safeParse(value)
  return error ? explainIssue(error) : 'valid'
}

describe('explainIssue', () => {
  it.each([
    [{ type: 'sendPrompt' }, 'content: missing; give the prompt, as a text or a list of parts'],
    [{ type: 'sendPrompt', content: 3 }, 'content: give the prompt, as a text or a list of parts'],
    [
      { type: 'respondToApproval' },
      'decision: missing; give approve, approve_turn, approve_session, approve_always, reject or cancel',
    ],
    [
      { type: 'respondToApproval', decision: 'maybe' },
      'decision: give approve, approve_turn, approve_session, approve_always, reject or cancel',
    ],
  ])('says what to give instead of %j', (value, message) => {
    expect(explained(value)).toBe(message)
  })

  it.each([
    [{ type: 'rewind', turn: -1 }, 'turn: must be at least 0'],
    [{ type: 'restoreFiles', turn: -1 }, 'turn: must be at least 0'],
    [{ type: 'restoreFiles', message: 1, paths: [''] }, 'paths.0: must not be empty'],
    [{ type: 'restoreFiles', paths: ['a'] }, /; message: 1 means before everything that the session did$/],
  ])('says in plain words which values are allowed (%#)', (value, message) => {
    expect(explained(value)).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
  })

  it('names the field inside a union too', () => {
    expect(explained({ type: 'sendPrompt', content: [{ type: 'text' }] })).toMatch(/^content\.0\.text: /)
  })

  it('is short, however many unknown fields there are and however long they are', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, each) => [`unknown${each}`, each]))
    for (const fields of [many, { ['x'.repeat(100_000)]: 1 }])
      expect(explained({ type: 'abort', ...fields })).toMatch(/^Unrecognized key.{280,300}…$/)
  })
})

describe('Command', () => {
  it('does not check each part of a list that is far too long', () => {
    let read = 0
    const part = {
      get type() {
        read += 1
        return 'unknown'
      },
    }
    expect(Command.safeParse({ type: 'sendPrompt', content: Array(10_000).fill(part) }).success).toBe(false)
    expect(read).toBe(0)
  })
})

describe('unknownCommand', () => {
  it('suggests the nearest command, or lists all', () => {
    expect(unknownCommand('abrt')).toBe("There is no command abrt. Did you mean 'abort'?")
    expect(unknownCommand('wombat')).toMatch(/^There is no command wombat\. Known commands: sendPrompt, /)
    expect(unknownCommand(`a\u001b\n${'x'.repeat(1000)}`)).toMatch(/^There is no command a\\u\{1b\}\\nx{97}\. /)
  })
})

describe('commandFault', () => {
  const messageFor = (sent: unknown) => {
    const { error } = Command.safeParse(sent)
    return error && commandFault(sent, error).message
  }

  it('names a field the command does not have, and the nearest one', () => {
    const known = 'respondToApproval has no field "aproval". Did you mean \'approval\'?'
    expect(messageFor({ type: 'respondToApproval', decision: 'approve', aproval: 3 })).toBe(known)
    expect(messageFor({ type: 'abort', wombat: 1 })).toBe('abort has no field "wombat".')
  })

  it('says what is wrong with a field', () => {
    expect(messageFor({ type: 'sendPrompt' })).toMatch(/^Invalid command: content: missing; give the prompt/)
    expect(messageFor(7)).toMatch(/^Invalid command: /)
  })
})
