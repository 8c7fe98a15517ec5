import type { HookMoment } from '@holdfast/core/ports'
import { CallId, type HookEvent, SessionId } from '@holdfast/protocol'

/** The session of a sample. */
export const sampleSession = SessionId.parse('ses_00000000000000000000000000')

/** Returns an example of each moment, to try hooks with. */
export function sampleMoment(event: HookEvent, tool: string): HookMoment {
  const call = { call: CallId.parse(1), tool, args: sampleArgs(tool) }
  const samples: { readonly [Event in HookEvent]: Extract<HookMoment, { event: Event }> } = {
    PreToolUse: { event: 'PreToolUse', ...call },
    PostToolUse: { event: 'PostToolUse', ...call, result: { text: 'An example.', isError: false }, durationMs: 12 },
    UserPromptSubmit: { event: 'UserPromptSubmit', prompt: 'An example of a prompt.' },
    PreCompact: { event: 'PreCompact', trigger: 'manual' },
    SessionStart: { event: 'SessionStart', source: 'startup', model: 'demo/agent' },
    SessionEnd: { event: 'SessionEnd', reason: 'stopped' },
    Stop: { event: 'Stop', isGoingOn: false, lastMessage: 'An example of an answer.' },
    SubagentStop: {
      event: 'SubagentStop',
      isGoingOn: false,
      lastMessage: 'An example of an answer.',
      child: sampleSession,
      agent: 'general',
    },
    Notification: {
      event: 'Notification',
      kind: 'permission_prompt',
      title: 'Approval needed',
      message: 'Holdfast needs your approval to use shell.',
    },
  }
  return samples[event]
}

const sampleArgs = (tool: string): Readonly<Record<string, unknown>> =>
  tool === 'shell' ? { command: 'echo example' } : { path: 'example.txt' }
