import { CallId, type CallView, MessageId } from '@holdfast/protocol'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { SessionContext, type SessionOnScreen } from '../state/session-context.ts'
import { ToolCard, type ToolCardProps } from './tool-card.tsx'

// Drawing reads only the id of the session.
const parts = { handle: { id: 's' }, live: { view: null }, asks: {}, takeBack: null } as unknown as SessionOnScreen

function draw(call: Partial<CallView>): string {
  const view: CallView = {
    id: CallId.parse(7),
    tool: 'shell',
    args: {},
    status: 'complete',
    approval: null,
    approvedBy: null,
    durationMs: 3,
    preview: null,
    files: null,
    result: { text: 'built' },
    ...call,
  }
  // Only the fields that a card reads.
  const message = { id: MessageId.parse(7), kind: 'tool_call', call: view } as ToolCardProps['message']
  return renderToStaticMarkup(
    <SessionContext value={parts}>
      <ToolCard message={message} liveOutput={undefined} />
    </SessionContext>,
  )
}

const line = '<pre class="command-line"><code>make -j4</code></pre>'

it('shows each shell call as a terminal, with its other arguments in the foot', () => {
  const html = draw({ args: { command: 'make -j4', timeout: 60, background: true, network: true, kind: 'x\u202e' } })
  expect(html).toContain(line)
  expect(html).not.toContain('<dl')
  expect(html).toContain('done · 3 ms · in the background · timeout 60 s · asked for the network · kind: ')
  expect(html).not.toContain('\u202e')
})

it('shows the command line of a shell call that changed files, above its output', () => {
  const html = draw({ args: { command: 'make -j4', timeout: 5 }, files: [{ path: 'out.js' }] as CallView['files'] })
  expect(html.indexOf(line)).toBeGreaterThan(-1)
  expect(html.indexOf(line)).toBeLessThan(html.indexOf('built'))
  expect(html).toContain('timeout 5 s')
})

it('shows the arguments of a shell call without a command', () => {
  expect(draw({ args: { command: 5 } })).toContain('<dl class="arguments">')
})
