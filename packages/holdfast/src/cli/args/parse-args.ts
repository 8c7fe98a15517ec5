import { parseArgs as tokenize } from 'node:util'
import { ageForm, parseAge } from '@holdfast/protocol/age'
import { didYouMean } from '@holdfast/protocol/nearest'
import { rejectUsage } from '../terminal/exit.ts'
import { type ArgsOf, type CommandSpec, commandLine, type FlagSpec } from './command-spec.ts'

/** Parses the arguments after a command's name by the command's spec. */
export function parseArgs<Spec extends CommandSpec>(
  name: string,
  spec: Spec,
  argv: readonly string[],
): ArgsOf<Spec> | 'help' {
  const flags: Record<string, unknown> = {}
  for (const [flag, { value, many }] of Object.entries(spec.flags))
    flags[flag] = many ? [] : value === undefined ? false : undefined
  const positionals: string[] = []
  const given = new Set<string>()
  let wantsHelp = false
  for (const token of tokenize({ args: [...argv], options: optionsOf(spec), ...lenient }).tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    if (token.name === 'help') wantsHelp = true
    else {
      checkFlag(name, spec, token)
      const flag = spec.flags[token.name]
      if (given.has(token.name) && !flag?.many) rejectUsage(`${token.rawName} was given twice.`)
      given.add(token.name)
      const value = token.value === undefined ? true : parseValue(flag, token.value)
      flags[token.name] = flag?.many ? [...(flags[token.name] as readonly unknown[]), value] : value // begun as a list
    }
  }
  if (wantsHelp) return 'help'
  checkPositionals(name, spec, positionals)
  const pair = spec.exclusive?.find((flags) => flags.every((flag) => given.has(flag)))
  if (pair) rejectUsage(`Use either --${pair[0]} or --${pair[1]}, not both.`)
  // Built from the spec that ArgsOf is computed from, which TypeScript cannot follow.
  return { positionals, flags } as ArgsOf<Spec>
}

const lenient = { strict: false, allowPositionals: true, tokens: true } as const

const optionsOf = ({ flags }: CommandSpec) =>
  Object.fromEntries(
    Object.entries<Partial<FlagSpec>>({ ...flags, help: { short: 'h' } }).map(([flag, { value, short }]) => [
      flag,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short !== undefined && { short }) },
    ]),
  )

type FlagToken = Readonly<Record<'name' | 'rawName', string>> & {
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function checkFlag(name: string, { flags, whyNoUrl }: CommandSpec, { rawName, value, ...token }: FlagToken): void {
  const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined
  if (flag === undefined && token.name === 'url' && whyNoUrl !== undefined)
    rejectUsage(`${name} does not work with --url. ${whyNoUrl}`)
  if (flag === undefined) {
    const known = [...Object.keys(flags).map((one) => `--${one}`), '--help']
    rejectUsage(`${name} has no flag '${rawName}'.${didYouMean(rawName, known) || ` See ${commandLine(name)} --help.`}`)
  } else if (flag.value === undefined) {
    if (value !== undefined) rejectUsage(`${rawName} takes no value.`)
  } else if (value === undefined || (!token.inlineValue && (flag.range ? /^-\D/ : /^-./).test(value)))
    rejectUsage(`${rawName} needs a value: ${rawName} <${flag.value}>.`)
  else if (parseValue(flag, value) === null) rejectUsage(`${rawName} must be ${formOf(flag)}, not '${value}'.`)
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

function checkPositionals(name: string, spec: CommandSpec, given: readonly string[]): void {
  const { positionals = [], tooMany } = spec
  const missing = positionals.filter((one) => one.startsWith('<'))[given.length]
  if (missing !== undefined) rejectUsage(`${name} needs ${missing}: ${[commandLine(name), ...positionals].join(' ')}.`)
  const extra = given[positionals.length]
  if (extra === undefined || positionals.at(-1)?.endsWith('…]')) return
  if (tooMany !== undefined) rejectUsage(tooMany)
  if (positionals.length === 0) rejectUsage(`${name} takes no arguments, but got '${extra}'.`)
  rejectUsage(`'${extra}' is one argument too many for ${name}. Put text with spaces in quotes.`)
}
