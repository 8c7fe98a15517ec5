import { escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { rejectUsage } from '../terminal/exit.ts'

/** Returns the action of a command by its name, such as `list` of `holdfast token list`. Rejects an unknown name. */
export function findAction<Action>(command: string, name: string, actions: Readonly<Record<string, Action>>): Action {
  const found = Object.hasOwn(actions, name) ? actions[name] : undefined
  return found ?? rejectAction(command, name, Object.keys(actions))
}

/** Rejects the name of an action, and gives those that the command has. */
export function rejectAction(command: string, name: string, known: readonly string[]): never {
  const hint = didYouMean(name, known) || ` Use ${known.join(', ')}.`
  rejectUsage(`${command} has no action '${escapeLine(name)}'.${hint}`)
}
