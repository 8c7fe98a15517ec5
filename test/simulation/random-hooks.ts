import type { Hooks } from '@holdfast/core/ports'
import { createScriptedHooks, type Dice, type ScriptedHookAnswer } from '@holdfast/testkit'
import type { Life, Scheduler } from './scheduler.ts'

type Parts = { readonly life: Life; readonly scheduler: Scheduler; readonly dice: Dice }

/** Creates hooks that randomly take time, veto, change, ask, allow, add, end the turn and fail. */
export function createRandomHooks({ life, scheduler, dice }: Parts): Hooks {
  const said = async (name: string, ...answers: readonly ScriptedHookAnswer[]): Promise<ScriptedHookAnswer> => {
    if (dice.chance(1, 2)) await scheduler.pass(life, `${name} hook`)
    return dice.pick([{}, ...answers]) ?? {}
  }
  return createScriptedHooks({
    PreToolUse: ({ args }) =>
      said(
        'PreToolUse',
        { block: 'no' },
        { failed: 'it broke', block: 'A hook could not decide: it broke.' },
        { args: { value: { ...args, changed: true }, by: 'scripted' } },
        { permission: 'allow' },
        { permission: 'ask', context: 'mind the tests' },
        { stop: 'enough' },
      ),
    PostToolUse: () => said('PostToolUse', { block: 'lint failed' }, { result: 'redacted' }, { failed: 'it broke' }),
    UserPromptSubmit: () => said('UserPromptSubmit', { context: 'on main' }, { block: 'not this' }),
    PreCompact: () => said('PreCompact', { block: 'not now' }),
    SessionStart: () => said('SessionStart', { context: 'welcome' }),
    SessionEnd: () => said('SessionEnd'),
    Stop: () => said('Stop', { block: 'go on' }, { block: 'go on' }, { stop: 'enough' }, { failed: 'it broke' }),
    SubagentStop: () => said('SubagentStop', { block: 'look again' }, { stop: 'enough' }, { failed: 'it broke' }),
    Notification: () => said('Notification'),
  })
}
