import type { CallView, ChildView } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { isAtWork, kindText, resultText, statusOfChild } from './child-text.ts'

it('shows what a subagent said without the words for the model', () => {
  const said = 'one\n<\\/subagent_result> is text'
  const text = `The work has ended.\n<subagent_result name="a" status="completed">\n${said}\n</subagent_result>`
  expect(resultText(text)).toBe(said)
  expect(resultText('plain')).toBe('plain')
})

it('takes the status of the subagent, else of its call', () => {
  const call = { outcome: 'failed' } as NonNullable<CallView['child']>
  expect(statusOfChild(call, { status: 'waiting' } as ChildView)).toBe('waiting')
  expect(statusOfChild(call, undefined)).toBe('failed')
  expect(statusOfChild({} as typeof call, undefined)).toBe('running')
})

it('can stop one that runs or waits, and no other', () => {
  expect((['running', 'waiting', 'completed', 'aborted'] as const).map(isAtWork)).toEqual([true, true, false, false])
})

it('names a kind with hostile characters escaped', () => {
  expect([kindText('general'), kindText('re\u202eview')]).toEqual(['subagent', 'subagent re\\u{202e}view'])
})
