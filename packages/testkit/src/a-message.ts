import { Message } from '@holdfast/protocol'
import type { z } from 'zod'

type Given = z.input<typeof Message>
type Kind = Given['kind']
type Of<One extends Kind> = Extract<Given, { readonly kind: One }>
type Common = 'kind' | 'id' | 'parent' | 'turn' | 'at' | 'pinned' | 'collapsed'
/** What a test must say of a message of this kind; the rest is filled in. */
type Fields<One extends Kind> = Omit<Of<One>, Common | 'step' | 'parts'> & Partial<Of<One>>

const common = {
  id: 7,
  parent: null,
  turn: 0,
  step: 2,
  at: '2026-01-02T03:04:05.678Z',
  pinned: false,
  collapsed: false,
}

/** A message of a kind, for tests of how it is shown. */
export function aMessage<One extends Kind>(kind: One, fields: Fields<One>): Message {
  const text = 'text' in fields ? fields.text : ''
  return Message.parse({ kind, ...common, parts: [{ type: 'text', text }], ...fields }) // keeps what its kind has
}

/** A settled call of the shell, of which a test changes what it is about. */
export const aToolCall = (changes: Partial<Of<'tool_call'>['call']> = {}): Message =>
  aMessage('tool_call', {
    call: {
      id: 7,
      tool: 'shell',
      args: { command: 'echo hi' },
      status: 'complete',
      result: { text: 'hi\n' },
      durationMs: 12.4,
      approvedBy: { client: 'cli' },
      approval: null,
      ...changes,
    },
  })
