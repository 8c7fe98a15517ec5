import type { CommandInput } from '@holdfast/protocol'
import type { Arbitrary } from 'fast-check'
import type { Outcome, Sender, State } from '../state.ts'

/** A command before it is bound to an entry or question of the state. */
export type CommandTemplate = {
  /** The code of the command in a saved run. */
  readonly code: string
  readonly command: (state: State) => CommandInput
}

export type CommandOf<Type extends CommandInput['type']> = Extract<CommandInput, { readonly type: Type }>

/** The sender of a command. `seq` is the record it made, `ticket` its pending request. */
export type CommandSender = {
  readonly by: Sender
  readonly seq: number
  readonly id: string
  readonly ticket: number
}

/** Predicts the outcome of a command. */
export type Rule<Type extends CommandInput['type']> = (
  state: State,
  command: CommandOf<Type>,
  sender: CommandSender,
) => Outcome

export type Rules = { readonly [Type in CommandInput['type']]?: Rule<Type> }

/** Commands that belong together: how they are drawn, and their expected outcomes. */
export type Family = {
  readonly templates: readonly Arbitrary<CommandTemplate>[]
  readonly rules: Rules
}

/** Picks an item by a number that fast-check can shrink; null if there is none. */
export const pickOf = <Item>(items: readonly Item[], pick: number): Item | null => items[pick % items.length] ?? null

/** An id that does not exist. */
export const unknownId = 999_999
