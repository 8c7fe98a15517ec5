import { BlobHash, isTrustedExactly, type Permission, type Trust } from '@holdfast/protocol'
import { factsFor } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { judge, type Policy } from './verdict.ts'

const reading = factsFor('read_file', { isDestructive: false, isReadOnly: true })
const writing = factsFor('write_file')
const neither = factsFor('mcp__x__y', { isDestructive: false })
const policy = (settings: Partial<Policy['settings']> = {}, trust: readonly Trust[] = []): Policy => ({
  settings: { mode: 'exec', ...settings },
  trust,
})

describe('the verdict', () => {
  it.each([
    ['reading', 'exec', reading, 'allow'],
    ['reading', 'plan', reading, 'allow'],
    ['writing', 'exec', writing, 'ask'],
    ['writing', 'plan', writing, 'deny'],
    ['a tool of unknown effect', 'exec', neither, 'allow'],
    ['a tool of unknown effect', 'plan', neither, 'deny'],
  ] as const)('on %s in %s mode', (_, mode, facts, verdict) => {
    expect(judge(facts, policy({ mode })).type).toBe(verdict)
  })

  it('names the rule that allowed, or the reason of the denial', () => {
    expect(judge(reading, policy())).toEqual({ type: 'allow', rule: 'not destructive' })
    expect(judge(writing, policy({ mode: 'plan' }))).toMatchObject({
      code: 'plan_mode',
      message: expect.stringContaining('write_file'),
    })
  })

  it.each([
    ['destructive', 'allow', 'ask'],
    ['all', 'ask', 'ask'],
    ['none', 'allow', 'allow'],
  ] as const)('with the setting %s is %s for reading and %s for writing', (approvals, onReading, onWriting) => {
    expect(judge(reading, policy({ approvals })).type).toBe(onReading)
    expect(judge(writing, policy({ approvals })).type).toBe(onWriting)
  })
})

describe('a permission', () => {
  const says = (tool: string, verdict: Permission['verdict']) => [{ tool, verdict }]

  it('applies before the approval setting of the session', () => {
    expect(judge(writing, policy({ permissions: says('write_file', 'allow') }))).toMatchObject({ rule: 'permission' })
    expect(judge(reading, policy({ permissions: says('*', 'ask') })).type).toBe('ask')
    const denied = judge(writing, policy({ permissions: says('*', 'deny'), approvals: 'none' }))
    expect(denied).toMatchObject({ type: 'deny', code: 'rule' })
  })

  it('does not apply in plan mode, nor does trust', () => {
    const trust = [{ tool: 'write_file', scope: 'session' as const }]
    const planning = policy({ mode: 'plan', permissions: says('*', 'allow') }, trust)
    expect(judge(writing, planning)).toMatchObject({ code: 'plan_mode' })
  })

  it('that denies is not overridden by trust; one that asks is', () => {
    const trust = [{ tool: 'write_file', scope: 'session' as const }]
    expect(judge(writing, policy({ permissions: says('*', 'deny') }, trust)).type).toBe('deny')
    expect(judge(writing, policy({ permissions: says('*', 'ask') }, trust))).toMatchObject({ rule: 'trust: session' })
  })
})

describe('a call that is always asked about', () => {
  const protectedCall = { ...writing, alwaysAsk: 'it writes into .git' }

  it('is asked whatever is trusted, allowed or set', () => {
    const trust = [{ tool: 'write_file', scope: 'session' as const }]
    const allowing = policy({ permissions: [{ tool: '*', verdict: 'allow' }], approvals: 'none' }, trust)
    expect(judge(writing, allowing).type).toBe('allow')
    expect(judge(protectedCall, allowing)).toEqual({ type: 'ask', reason: 'it writes into .git' })
    expect(judge(protectedCall, policy({}, trust)).type).toBe('ask')
    const workspaceTrust = [{ tool: 'write_file', scope: 'workspace' as const }]
    expect(judge({ ...protectedCall, workspaceTrust }, policy()).type).toBe('ask')
  })

  it('is denied where a rule or plan mode denies it', () => {
    expect(judge(protectedCall, policy({ mode: 'plan' })).type).toBe('deny')
    expect(judge(protectedCall, policy({ permissions: [{ tool: '*', verdict: 'deny' }] })).type).toBe('deny')
  })
})

describe('trust', () => {
  const other = BlobHash.parse('b'.repeat(64))

  it('applies to its tool only', () => {
    expect(judge(writing, policy({}, [{ tool: 'write_file', scope: 'turn' }]))).toMatchObject({ rule: 'trust: turn' })
    expect(judge(writing, policy({}, [{ tool: 'shell', scope: 'turn' }])).type).toBe('ask')
  })

  it('in one exact call applies to no other call', () => {
    const exact = [{ tool: 'write_file', scope: 'session' as const, argsHash: writing.argsHash }]
    expect(judge(writing, policy({}, exact)).type).toBe('allow')
    expect(judge({ ...writing, argsHash: other }, policy({}, exact)).type).toBe('ask')
  })

  it('of the workspace is read from the workspace: another session may have revoked it', () => {
    const trust = [{ tool: 'write_file', scope: 'workspace' as const }]
    expect(judge({ ...writing, workspaceTrust: trust }, policy())).toMatchObject({ rule: 'trust: workspace' })
    expect(judge(writing, policy({}, trust)).type).toBe('ask')
  })

  it('given with an answer covers only the exact call for tools with broad effects', () => {
    expect(['shell', 'mcp__x__y', 'write_file'].map(isTrustedExactly)).toEqual([true, true, false])
  })
})
