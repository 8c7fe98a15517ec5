import type { Message } from '@holdfast/protocol'

const common = { parent: null, turn: 0, step: 2, at: '2026-01-02T03:04:05.678Z', pinned: false, collapsed: false }

/** A message of a kind, for tests of how it is shown. */
export const message = (kind: Message['kind'], fields: Readonly<Record<string, unknown>>): Message =>
  ({ kind, id: 7, ...common, ...fields }) as unknown as Message // a test needs no brands

export const toolCall = (call: Readonly<Record<string, unknown>>): Message =>
  message('tool_call', {
    call: {
      id: 7,
      tool: 'shell',
      args: { command: 'echo hi' },
      status: 'complete',
      result: { text: 'hi\n' },
      durationMs: 12.4,
      approvedBy: { client: 'cli' },
      approval: null,
      ...call,
    },
  })
