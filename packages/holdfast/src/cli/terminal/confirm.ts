import type { CliContext } from './cli-context.ts'
import { rejectUsage } from './exit.ts'
import { askFreshLine } from './prompt-user.ts'

type ConfirmContext = Pick<CliContext, 'input' | 'err' | 'untilInterrupted'>

/** Asks a person a yes-or-no question, and takes no answer that was typed before it. Returns null if there is none at a terminal. */
export async function askYesOrNo(
  question: string,
  { input, err, untilInterrupted }: ConfirmContext,
): Promise<boolean | null> {
  const terminal = input()
  if (!terminal.isTTY || !err.isTerminal) return null
  const typed = await askFreshLine(`${question} [y/n] `, { input: terminal, err, signal: untilInterrupted() })
  return typed !== null && /^y(es)?$/i.test(typed.trim())
}

/** Asks before work that cannot be undone. Where nobody can be asked, the command needs `--yes`. */
export async function confirm(question: string, context: ConfirmContext): Promise<boolean> {
  const isWanted = await askYesOrNo(question, context)
  if (isWanted === null)
    return rejectUsage('This deletes permanently, and nobody can be asked here: there is no terminal. Add --yes.')
  if (!isWanted) await context.err.tell('Nothing was changed.')
  return isWanted
}
