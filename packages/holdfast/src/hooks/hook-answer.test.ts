import { HookEvent } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { type HookReply, joinReplies, readHookAnswer } from './hook-answer.ts'
import { createMatcher } from './matcher.ts'

const exited = (code: number, stdout = '', stderr = '') => ({ type: 'exited', code, stdout, stderr }) as const
const read = (...args: Parameters<typeof readHookAnswer>): Partial<HookReply> =>
  Object.fromEntries(Object.entries(readHookAnswer(...args)).filter(([, value]) => value !== null))

describe('the answer of a hook', () => {
  it.each(HookEvent.options)('is a block with exit code 2, for %s, whatever it prints', (event) => {
    expect(read(event, exited(2, '{"decision":"approve"}', ' No. \n'))).toEqual({ block: 'No.' })
    expect(read(event, exited(2))).toEqual({ block: 'A hook blocked it and gave no reason.' })
  })

  it('is nothing with exit code 0 and plain output, except where the output is for the model', () => {
    expect(read('PreToolUse', exited(0, 'fine'))).toEqual({})
    expect(read('UserPromptSubmit', exited(0, 'The branch is main.\n'))).toEqual({ context: 'The branch is main.' })
    expect(read('SessionStart', exited(0, 'Hello.'))).toEqual({ context: 'Hello.' })
  })

  it.each([
    exited(1, '', 'boom'),
    exited(127),
    exited(0, '{"decision"'),
    { type: 'failed', why: 'it took longer than 30 s', stdout: '', stderr: '' } as const,
  ])('refuses what can be refused if the hook fails: %j', (end) => {
    for (const event of ['PreToolUse', 'UserPromptSubmit', 'PreCompact'] as const) {
      expect(read(event, end).block).toMatch(/^A hook could not decide: /)
      expect(read(event, end, true)).toEqual({ failure: expect.any(String) })
    }
    for (const event of ['PostToolUse', 'Stop', 'SessionStart', 'Notification'] as const)
      expect(read(event, end)).toEqual({ failure: expect.any(String) })
  })

  it('may change the arguments of a call, ask, allow and add context', () => {
    const json = (specific: object) =>
      exited(0, JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...specific } }))
    expect(read('PreToolUse', json({ updatedInput: { command: 'ls' }, permissionDecision: 'allow' }))).toEqual({
      args: { command: 'ls' },
      permission: 'allow',
    })
    expect(read('PreToolUse', json({ permissionDecision: 'deny', permissionDecisionReason: 'No.' }))).toEqual({
      block: 'No.',
    })
    expect(read('PreToolUse', json({ permissionDecision: 'defer' }))).toEqual({ permission: 'ask' })
    expect(read('PreToolUse', json({ additionalContext: 'Mind the tests.' }))).toEqual({ context: 'Mind the tests.' })
    expect(read('PostToolUse', json({ additionalContext: 'of another event' }))).toEqual({})
  })

  it('may end the turn and speak to the person', () => {
    const text = JSON.stringify({ continue: false, stopReason: 'Enough.', systemMessage: 'Budget used.' })
    expect(read('Stop', exited(0, text))).toEqual({ stop: 'Enough.', message: 'Budget used.' })
  })

  it('of several hooks is the strictest', () => {
    const answers = [
      exited(0, '{"hookSpecificOutput":{"permissionDecision":"allow","additionalContext":"a"}}'),
      exited(0, '{"hookSpecificOutput":{"permissionDecision":"ask","additionalContext":"b"}}'),
    ].map((end) => readHookAnswer('PreToolUse', end))
    expect(joinReplies(answers)).toMatchObject({ block: null, permission: 'ask', context: 'a\n\nb' })
    expect(joinReplies([...answers, readHookAnswer('PreToolUse', exited(2, '', 'No.'))]).block).toBe('No.')
  })
})

describe('a matcher', () => {
  it.each([
    ['', 'shell', true],
    ['*', 'shell', true],
    ['Bash', 'Bash', true],
    ['Bash', 'BashOutput', false],
    ['Edit|Write', 'Write', true],
    ['Edit, Write', 'Write', true],
    ['mcp__.*', 'mcp__memory__read', true],
    ['^Notebook', 'NotebookEdit', true],
    ['(a+)+$', `${'a'.repeat(50_000)}b`, false],
  ])('%s covers %s: %s', (matcher, name, expected) => {
    expect(createMatcher(matcher)?.(name)).toBe(expected)
  })

  it('that is no expression is none', () => {
    expect(createMatcher('(')).toBeNull()
    expect(createMatcher('(?=look)')).toBeNull()
  })
})
