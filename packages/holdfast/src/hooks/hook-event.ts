import type { HookEvent } from '@holdfast/protocol'

/** What happens if a hook fails: `veto` refuses what it was asked about, `notice` only tells the person. */
export const onHookFailure: Readonly<Record<HookEvent, 'veto' | 'notice'>> = {
  PreToolUse: 'veto',
  UserPromptSubmit: 'veto',
  PreCompact: 'veto',
  PostToolUse: 'notice',
  SessionStart: 'notice',
  SessionEnd: 'notice',
  Notification: 'notice',
  Stop: 'notice',
  SubagentStop: 'notice',
}
