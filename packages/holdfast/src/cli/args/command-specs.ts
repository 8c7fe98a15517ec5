import type { CliContext } from '../terminal/cli-context.ts'
import type { CommandResult } from '../terminal/exit.ts'
import { programSpecs } from './program-specs.ts'
import { sessionSpecs } from './session-specs.ts'
import type { CommandSpec } from './spec.ts'
import { storeSpecs } from './store-specs.ts'

/** Every command. Parser, help, suggestions and types come from this table; a command's code is loaded when it runs. */
export const commandTable = { ...sessionSpecs, ...storeSpecs, ...programSpecs }

export const commandGroups: readonly (readonly [string, { readonly [name: string]: CommandSpec }])[] = [
  ['Sessions', sessionSpecs],
  ['Stores', storeSpecs],
  ['Program', programSpecs],
]

export type CommandName = keyof typeof commandTable

export const commandNames = Object.keys(commandTable) as readonly CommandName[] // the keys of the table above

export const isCommandName = (text: string): text is CommandName => Object.hasOwn(commandTable, text)

type FlagValue<Flag> = Flag extends { readonly range: unknown } | { readonly isAge: true }
  ? number | undefined
  : Flag extends { readonly choices: readonly (infer Choice)[] }
    ? Choice | undefined
    : Flag extends { readonly value: string }
      ? string | undefined
      : boolean

/** The arguments of a command: a switch is a boolean; a flag that was not given is undefined. */
export type ArgsOf<Name extends CommandName> = {
  readonly positionals: readonly string[]
  readonly flags: {
    readonly [Flag in keyof (typeof commandTable)[Name]['flags']]: FlagValue<(typeof commandTable)[Name]['flags'][Flag]>
  }
}

/** The shape of every command: each file of `commands` exports one as `run`. */
export type RunCommand<Name extends CommandName> = (args: ArgsOf<Name>, context: CliContext) => Promise<CommandResult>
