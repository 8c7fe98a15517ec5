/** A flag of a command. One without `value` is a switch; a value is text unless `range`, `choices` or `isAge` says more. */
export type FlagSpec = {
  readonly about: string
  readonly short?: string
  /** What the help calls its value. */
  readonly value?: string
  /** The least and the greatest whole number it accepts. */
  readonly range?: readonly [number, number]
  readonly choices?: readonly string[]
  /** Whether it takes an age such as 30d, which the command gets in milliseconds. */
  readonly isAge?: true
}

export type CommandSpec = {
  /** Starts with a verb; at most 60 characters. */
  readonly about: string
  /** `<needed>`, `[optional]`, `[any number…]`, in order. */
  readonly positionals: readonly string[]
  /** The error for too many arguments, if they must not be repeated on the terminal. */
  readonly tooMany?: string
  readonly flags: { readonly [name: string]: FlagSpec }
  /** Pairs of flags of which only one may be given. */
  readonly exclusive?: readonly (readonly [string, string])[]
  /** A list for the help, under a heading. */
  readonly list?: { readonly heading: string; readonly rows: readonly (readonly [string, string])[] }
  /** Paragraphs at the end of the help. */
  readonly notes?: readonly string[]
}

export const json = { about: 'print JSON' } as const
export const store = { value: 'url', about: 'use this store: sqlite:PATH or jsonl:DIR' } as const
export const dryRun = { about: 'only print what would happen' } as const
export const listLimit = { value: 'n', range: [1, 1_000_000], about: 'print at most n sessions (default: 50)' } as const
export const listCursor = { value: 'cursor', about: 'continue an earlier list ("next" in its JSON)' } as const

export const sessionNote =
  '<session> is an id, a unique beginning of an id, a handle such as calm-harbor-12, or @latest: the session of this folder with the latest message.'
export const ageNote = 'An age is a whole number and a unit: 90m, 12h, 30d or 2w.'
