import { BlobHash } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { approvalText, trustByTool } from './trust-text.ts'

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
