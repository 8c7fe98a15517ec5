import { BlobHash } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { approvalText, ruleToStore, trustByTool } from './trust-text.ts'

const argsHash = BlobHash.parse('a'.repeat(64))

describe('trust texts', () => {
  it.each([
    ['approve', 'shell', 'Only this call. The next one asks again.'],
    ['approve_turn', 'shell', 'This exact command runs without asking until this turn ends.'],
    ['approve_session', 'mcp__mail__send', 'This exact call runs without asking for the rest of this session.'],
    ['approve_always', 'write_file', 'Every write_file runs without asking in every session of this folder.'],
  ] as const)('says what %s of %s allows', (decision, tool, text) => {
    expect(approvalText(decision, tool)).toBe(text)
  })

  it('says which rule "Always here" stores', () => {
    const command = { type: 'command', command: 'git\tstatus', cwd: '/work' } as const
    expect(ruleToStore('shell', command)).toBe('allow shell git\\tstatus')
    expect(ruleToStore('shell', { ...command, command: 'x'.repeat(1001) })).toBeNull()
    expect(ruleToStore('write_file', { type: 'diff', path: 'a', diff: '' })).toBe('allow write_file')
    expect(ruleToStore('mcp__mail__send', { type: 'arguments', args: { to: 'a' } })).toBe(
      'allow mcp__mail__send {"to":"a"}',
    )
  })

  it('groups trust by tool', () => {
    const trust = [
      { tool: 'shell', scope: 'session', argsHash },
      { tool: 'write_file', scope: 'workspace' },
      { tool: 'shell', scope: 'turn', argsHash },
      { tool: 'shell', scope: 'turn', argsHash: BlobHash.parse('b'.repeat(64)) },
    ] as const
    expect(trustByTool(trust)).toEqual([
      ['shell', 'one exact call this session, one exact call this turn'],
      ['write_file', 'every call always here'],
    ])
  })
})
