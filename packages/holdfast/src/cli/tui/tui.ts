import { setImmediate } from 'node:timers/promises'
import { keepYoungSpace } from '../../system/heap-growth.ts'
import type { ArgsOf } from '../args/command-spec.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { type CommandResult, rejectUsage } from '../terminal/exit.ts'
import { colourOf } from '../terminal/output.ts'
import { openFirstInput } from './input/first-input.ts'
import type { tuiSpec } from './spec.ts'

/**
 * Runs the terminal UI. The input is drawn before the code behind it is loaded, which takes longer than to draw it; so this
 * file and what it imports stay small.
 */
export async function run(args: ArgsOf<typeof tuiSpec>, context: CliContext): Promise<CommandResult> {
  const { positionals, flags } = args
  const screen = context.screen?.()
  if (!screen?.isTTY || !context.input().isTTY)
    return rejectUsage('The terminal UI needs a terminal. For scripts there is holdfast run.')
  if (positionals.length > 0 && (flags.continue || flags.resume)) return rejectUsage('Use either a session, -c or -r.')
  if (flags.plain || context.environment['TERM'] === 'dumb') {
    if (flags.resume)
      return rejectUsage('The list of sessions needs a full terminal. Use holdfast ls, then holdfast <session>.')
    return (await import('./run-tui.ts')).runPlain(args, context)
  }
  keepYoungSpace()
  const first = openFirstInput(context, screen, colourOf(context.environment) !== 'never')
  try {
    // In parts, so that what is typed meanwhile is shown between them.
    for (const load of [() => import('@holdfast/protocol'), () => import('../connect/connect.ts')]) {
      await load()
      await setImmediate()
    }
    const { runTui } = await import('./run-tui.ts')
    await setImmediate()
    return await runTui(args, context, first)
  } finally {
    first.terminal.close()
  }
}
