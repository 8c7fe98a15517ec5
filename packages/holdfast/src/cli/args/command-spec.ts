import type { CliContext } from '../terminal/cli-context.ts'
import type { CommandResult } from '../terminal/exit.ts'

/** A flag of a command. One without `value` is a switch; a value is text unless `range`, `choices` or `isAge` says more. */
export type FlagSpec = {
  readonly about: string
  readonly short?: string
  /** What the help calls its value. */
  readonly value?: string
  /** The least and the greatest whole number it accepts. */
  readonly range?: readonly [number, number]
  readonly choices?: readonly string[]
  /** Whether it may be given several times. The command gets a list. */
  readonly many?: true
  /** Whether it takes an age such as 30d, which the command gets in milliseconds. */
  readonly isAge?: true
}

export type CommandSpec = {
  /** Starts with a verb; at most 60 characters. */
  readonly about: string
  /** Whether it reads what a server can also answer: it then takes `--url`. */
  readonly reads?: true
  /** Why it cannot work at a server; set if it has no flag `--url`. */
  readonly whyNoUrl?: string
  /** `<needed>`, `[optional]`, `[any number…]`, in order. */
  readonly positionals?: readonly string[]
  /** The error for too many arguments, if they must not be repeated on the terminal. */
  readonly tooMany?: string
  readonly flags: { readonly [name: string]: FlagSpec }
  /** Pairs of flags that exclude each other. */
  readonly exclusive?: readonly (readonly [string, string])[]
  /** A list for the help, under a heading. */
  readonly list?: { readonly heading: string; readonly rows: readonly (readonly [string, string])[] }
  /** Paragraphs at the end of the help. */
  readonly notes?: readonly string[]
}

type FlagValue<Flag> = Flag extends { readonly many: true } ? readonly string[] : OneValue<Flag>

type OneValue<Flag> = Flag extends { readonly range: unknown } | { readonly isAge: true }
  ? number | undefined
  : Flag extends { readonly choices: readonly (infer Choice)[] }
    ? Choice | undefined
    : Flag extends { readonly value: string }
      ? string | undefined
      : boolean

/** The arguments of a command: a switch is a boolean; a flag that was not given is undefined. */
export type ArgsOf<Spec extends CommandSpec> = {
  readonly positionals: readonly string[]
  readonly flags: { readonly [Flag in keyof Spec['flags']]: FlagValue<Spec['flags'][Flag]> }
}

/** The shape of every command: each file of `commands` exports one as `run`. */
export type RunCommand<Spec extends CommandSpec> = (args: ArgsOf<Spec>, context: CliContext) => Promise<CommandResult>

/** Returns what a person types for a command; the terminal UI is the program without one. */
export const commandLine = (name: string): string => (name === 'holdfast' ? name : `holdfast ${name}`)
