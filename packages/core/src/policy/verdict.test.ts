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

describe('a permission rule', () => {
  const says = (verdict: Permission['verdict']) => ({ ruling: { verdict, by: 'your rule `x`' } })

  it('applies before the approval setting of the session, and is named', () => {
    expect(judge({ ...writing, ...says('allow') }, policy())).toEqual({ type: 'allow', rule: 'your rule `x`' })
    expect(judge({ ...reading, ...says('ask') }, policy())).toEqual({ type: 'ask', rule: 'your rule `x`' })
    expect(judge(reading, policy({ approvals: 'all' }))).toEqual({ type: 'ask', rule: 'approvals: all' })
    expect(judge(writing, policy())).toEqual({ type: 'ask' })
    const denied = judge({ ...writing, ...says('deny') }, policy({ approvals: 'none' }))
    const message = 'your rule `x` forbids this write_file call'
    expect(denied).toEqual({ type: 'deny', code: 'rule', message })
  })

  it('does not apply in plan mode, nor does trust', () => {
    const trust = [{ tool: 'write_file', scope: 'session' as const }]
    const planning = policy({ mode: 'plan' }, trust)
    expect(judge({ ...writing, ...says('allow') }, planning)).toMatchObject({ code: 'plan_mode' })
  })

  it('that denies is not overridden by trust; one that asks is', () => {
    const trust = [{ tool: 'write_file', scope: 'session' as const }]
    expect(judge({ ...writing, ...says('deny') }, policy({}, trust)).type).toBe('deny')
    expect(judge({ ...writing, ...says('ask') }, policy({}, trust))).toMatchObject({ rule: 'trust: session' })
  })

  it('that cannot be read leaves the decision to a person, whatever is trusted', () => {
    const ruling = { verdict: 'unknown' as const, reason: 'the rules cannot be read' }
    const trusting = policy({ approvals: 'none' }, [{ tool: 'read_file', scope: 'session' }])
    expect(judge({ ...reading, ruling }, trusting)).toEqual({ type: 'ask', reason: 'the rules cannot be read' })
  })
})

describe('a call that is always asked about', () => {
  const protectedCall = { ...writing, alwaysAsk: 'it writes into .git' }

  it('is asked whatever is trusted, allowed or set', () => {
    const trust = [{ tool: 'write_file', scope: 'session' as const }]
    const ruling = { verdict: 'allow' as const, by: 'your rule' }
    const allowing = policy({ approvals: 'none' }, trust)
    expect(judge({ ...writing, ruling }, allowing).type).toBe('allow')
    const asked = { type: 'ask', reason: 'it writes into .git' }
    expect(judge({ ...protectedCall, ruling }, allowing)).toEqual(asked)
    expect(judge(protectedCall, policy({}, trust)).type).toBe('ask')
    const workspaceTrust = [{ tool: 'write_file', scope: 'workspace' as const }]
    expect(judge({ ...protectedCall, workspaceTrust }, policy()).type).toBe('ask')
  })

  it('is denied where a rule or plan mode denies it', () => {
    expect(judge(protectedCall, policy({ mode: 'plan' })).type).toBe('deny')
    const ruling = { verdict: 'deny' as const, by: 'your rule' }
    expect(judge({ ...protectedCall, ruling }, policy()).type).toBe('deny')
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
