import type { CommandInput } from '@holdfast/protocol'
import type { Arbitrary } from 'fast-check'
import type { Outcome, Sender, State } from '../state.ts'

/** What someone wants, before it is known what there is to want it of: which entry, which question. */
export type CommandTemplate = {
  /** As it would be written in a kept story. */
  readonly code: string
  readonly command: (state: State) => CommandInput
}

export type CommandOf<Type extends CommandInput['type']> = Extract<CommandInput, { readonly type: Type }>

/** Whose command it is: `seq` names what it made, as the session says in its answer; `ticket` who waits for that. */
export type CommandSender = {
  readonly by: Sender
  readonly seq: number
  readonly id: string
  readonly ticket: number
}

/** What must come of a command. */
export type Rule<Type extends CommandInput['type']> = (
  state: State,
  command: CommandOf<Type>,
  whose: CommandSender,
) => Outcome

export type Rules = { readonly [Type in CommandInput['type']]?: Rule<Type> }

/** Commands that belong together: what may be wished for, and what must then be. A new command is a new line in one. */
export type Family = {
  readonly templates: readonly Arbitrary<CommandTemplate>[]
  readonly rules: Rules
}

/** Takes one of several by a number that shrinks; null when there are none. */
export const pickOf = <Item>(items: readonly Item[], pick: number): Item | null => items[pick % items.length] ?? null

/** A name that nothing has. */
export const unknownId = 999_999
