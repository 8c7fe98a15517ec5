import { describe, expect, it } from 'vitest'
import { judge } from './verdict.ts'

const reading = { tool: 'read_file', isDestructive: false, isReadOnly: true }
const writing = { tool: 'write_file', isDestructive: true, isReadOnly: false }
const neither = { tool: 'mcp__x__y', isDestructive: false, isReadOnly: false }

describe('the verdict', () => {
  it.each([
    ['reading', 'exec', reading, 'allow'],
    ['reading', 'plan', reading, 'allow'],
    ['writing', 'exec', writing, 'ask'],
    ['writing', 'plan', writing, 'deny'],
    ['a tool that promises nothing', 'exec', neither, 'allow'],
    ['a tool that promises nothing', 'plan', neither, 'deny'],
  ] as const)('on %s in %s mode', (_, mode, facts, verdict) => {
    expect(judge(facts, mode).type).toBe(verdict)
  })

  it('names the rule that allowed, and why it refused', () => {
    expect(judge(reading, 'exec')).toHaveProperty('rule')
    expect(judge(writing, 'plan')).toMatchObject({ code: 'plan_mode', message: expect.stringContaining('write_file') })
  })
})
