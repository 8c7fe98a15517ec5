import { parseArgs as tokenize } from 'node:util'
import { ageForm, parseAge } from '@holdfast/protocol/age'
import { didYouMean } from '@holdfast/protocol/nearest'
import { type ArgsOf, type CommandName, commandTable } from './command-specs.ts'
import type { CommandSpec, FlagSpec } from './spec.ts'

export type ParsedArgs<Name extends CommandName> =
  | { readonly type: 'args'; readonly args: ArgsOf<Name> }
  | { readonly type: 'help' }
  | UsageError

type UsageError = { readonly type: 'usage'; readonly message: string }

/** Parses the arguments after a command's name by the command's row of the table. */
export function parseArgs<Name extends CommandName>(name: Name, argv: readonly string[]): ParsedArgs<Name> {
  const spec: CommandSpec = commandTable[name]
  const flags: Record<string, unknown> = {}
  for (const [flag, { value }] of Object.entries(spec.flags)) flags[flag] = value === undefined ? false : undefined
  const positionals: string[] = []
  const given = new Set<string>()
  let wantsHelp = false
  for (const token of tokenize({ args: [...argv], options: optionsOf(spec), ...lenient }).tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    if (token.name === 'help') wantsHelp = true
    else {
      const error = flagError(name, spec, token) ?? (given.has(token.name) ? `${token.rawName} was given twice.` : null)
      if (error !== null) return { type: 'usage', message: error }
      given.add(token.name)
      flags[token.name] = token.value === undefined ? true : parseValue(spec.flags[token.name], token.value)
    }
  }
  if (wantsHelp) return { type: 'help' }
  const error = positionalsError(name, spec, positionals) ?? exclusiveError(spec, given)
  if (error !== null) return { type: 'usage', message: error }
  // Built from the row that ArgsOf is computed from, which TypeScript cannot follow.
  return { type: 'args', args: { positionals, flags } as ArgsOf<Name> }
}

const lenient = { strict: false, allowPositionals: true, tokens: true } as const

const optionsOf = ({ flags }: CommandSpec) =>
  Object.fromEntries(
    Object.entries<Partial<FlagSpec>>({ ...flags, help: { short: 'h' } }).map(([flag, { value, short }]) => [
      flag,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short !== undefined && { short }) },
    ]),
  )

type FlagToken = {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

/** Returns what is wrong with a flag as it was given, or null. */
function flagError(name: CommandName, { flags }: CommandSpec, { rawName, value, ...token }: FlagToken): string | null {
  const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined
  if (flag === undefined) {
    const known = [...Object.keys(flags).map((one) => `--${one}`), '--help']
    return `${name} has no flag '${rawName}'.${didYouMean(rawName, known) || ` See holdfast ${name} --help.`}`
  }
  if (flag.value === undefined) return value === undefined ? null : `${rawName} takes no value.`
  if (value === undefined || (!token.inlineValue && /^-./.test(value)))
    return `${rawName} needs a value: ${rawName} <${flag.value}>.`
  return parseValue(flag, value) === null ? `${rawName} must be ${formOf(flag)}, not '${value}'.` : null
}

const formOf = ({ range, choices = [] }: FlagSpec): string => {
  if (range) return `a whole number from ${range[0]} to ${range[1]}`
  return choices.length > 0 ? `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}` : ageForm
}

/** Returns the value of a flag in its type, or null if it is not one the flag accepts. */
function parseValue(flag: FlagSpec | undefined, text: string): string | number | null {
  if (flag?.range) return parseWholeNumber(text, ...flag.range)
  if (flag?.isAge) return parseAge(text)
  return flag?.choices?.includes(text) === false ? null : text
}

/** Returns a whole number within its bounds, or null. */
function parseWholeNumber(text: string, least: number, most: number): number | null {
  if (!/^\d{1,9}$/.test(text)) return null
  const number = Number(text)
  return number >= least && number <= most ? number : null
}

/** Returns the number of a turn, or null. */
export const parseTurn = (text: string): number | null => parseWholeNumber(text, 0, 999_999_999)

function positionalsError(name: CommandName, spec: CommandSpec, given: readonly string[]): string | null {
  const { positionals, tooMany } = spec
  const missing = positionals.filter((one) => one.startsWith('<'))[given.length]
  if (missing !== undefined) return `${name} needs ${missing}: holdfast ${[name, ...positionals].join(' ')}.`
  const extra = given[positionals.length]
  if (extra === undefined || positionals.at(-1)?.endsWith('…]')) return null
  if (tooMany !== undefined) return tooMany
  if (positionals.length === 0) return `${name} takes no arguments, but got '${extra}'.`
  return `'${extra}' is one argument too many for ${name}. Put text with spaces in quotes.`
}

function exclusiveError({ exclusive = [] }: CommandSpec, given: ReadonlySet<string>): string | null {
  const pair = exclusive.find(([one, other]) => given.has(one) && given.has(other))
  return pair ? `Use either --${pair[0]} or --${pair[1]}, not both.` : null
}
