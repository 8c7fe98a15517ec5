import { ApprovalId, CallId, type HookRun } from '@holdfast/protocol'
import { aMessage } from '@holdfast/testkit/fixtures'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { ApprovalCard } from '../approval/approval-card.tsx'
import { SessionContext } from '../state/session-context.ts'
import { MessageView } from './message-view.tsx'

it('shows a hook that ran as a small folded card, with hostile characters escaped', () => {
  const hook: HookRun = {
    event: 'PreToolUse',
    hook: 'sh \u202eguard.sh',
    source: 'workspace',
    outcome: 'blocked',
    reason: 'no',
    durationMs: 3,
    output: { text: 'hidden until it is opened' },
  }
  const text = `PreToolUse hook ${hook.hook}: blocked: no`
  const message = aMessage('notice', { level: 'info', code: 'hook', text, hook })
  const drawn = renderToStaticMarkup(createElement(MessageView, { message }))
  expect(drawn).toContain('PreToolUse hook sh \\u{202e}guard.sh: blocked: no')
  expect(drawn).not.toContain('hidden until it is opened')
})

it('says in the question that a hook changed the arguments', () => {
  const approval = {
    id: ApprovalId.parse(9),
    call: CallId.parse(5),
    tool: 'shell',
    rewrittenBy: 'sh guard.sh',
    preview: { type: 'arguments' as const, args: { command: 'ls' } },
  }
  const card = createElement(ApprovalCard, { approval, waiting: 0, onDecide: async () => null })
  // Arguments are drawn without asking the session.
  const drawn = renderToStaticMarkup(createElement(SessionContext, { value: {} as never }, card))
  expect(drawn).toContain('The hook sh guard.sh changed what the model asked for.')
})
