import { parseArgs as tokenise } from 'node:util'
import { didYouMean } from '@holdfast/protocol/nearest'
import { type ArgsOf, type CommandName, type CommandSpec, commandTable } from './command-specs.ts'

export type ParsedArgs<Name extends CommandName> =
  | { readonly type: 'args'; readonly args: ArgsOf<Name> }
  | { readonly type: 'help' }
  | { readonly type: 'misused'; readonly message: string }

/** Reads what stands after a command's name, by the command's own row of the table. */
export function parseArgs<Name extends CommandName>(name: Name, argv: readonly string[]): ParsedArgs<Name> {
  const spec: CommandSpec = commandTable[name]
  const read = readTokens(name, spec, argv)
  if (read.type !== 'read') return read
  const problem = wrongWords(name, spec, read.words)
  if (problem !== null) return { type: 'misused', message: problem }
  const flags = Object.fromEntries(
    Object.entries(spec.flags).map(([flag, { takes }]) => {
      const given = read.flags.get(flag)
      return [flag, takes === undefined ? given !== undefined : given]
    }),
  )
  // Built from the row that ArgsOf is computed from, which TypeScript cannot follow.
  return { type: 'args', args: { words: read.words, flags } as ArgsOf<Name> }
}

type Read =
  | { readonly type: 'read'; readonly words: readonly string[]; readonly flags: ReadonlyMap<string, string> }
  | { readonly type: 'help' }
  | { readonly type: 'misused'; readonly message: string }

function readTokens(name: CommandName, spec: CommandSpec, argv: readonly string[]): Read {
  const misused = (message: string): Read => ({ type: 'misused', message })
  const options = Object.fromEntries(
    Object.entries({ ...spec.flags, help: { short: 'h' } }).map(([flag, { takes, short }]: [string, Shape]) => [
      flag,
      { type: takes === undefined ? ('boolean' as const) : ('string' as const), ...(short !== undefined && { short }) },
    ]),
  )
  const { tokens } = tokenise({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true })
  const flags = new Map<string, string>()
  const words: string[] = []
  let wantsHelp = false
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    if (token.name === 'help') {
      wantsHelp = true
      continue
    }
    const flag = Object.hasOwn(spec.flags, token.name) ? spec.flags[token.name] : undefined
    if (flag === undefined) {
      const known = [...Object.keys(spec.flags).map((one) => `--${one}`), '--help']
      return misused(`Unknown flag '${token.rawName}' of ${name}.${didYouMean(token.rawName, known)}`)
    }
    if (flag.takes === undefined) {
      if (token.value !== undefined) return misused(`${token.rawName} is a switch and takes no value.`)
    } else if (token.value === undefined || (!token.inlineValue && /^-./.test(token.value))) {
      return misused(`${token.rawName} needs a value: ${token.rawName} <${flag.takes}>.`)
    }
    if (flags.has(token.name)) return misused(`${token.rawName} is given twice.`)
    flags.set(token.name, token.value ?? '')
  }
  return wantsHelp ? { type: 'help' } : { type: 'read', words, flags }
}

type Shape = { readonly takes?: string; readonly short?: string }

function wrongWords(
  name: CommandName,
  { words: wanted, tooMany }: CommandSpec,
  given: readonly string[],
): string | null {
  const missing = wanted.filter((word) => word.startsWith('<'))[given.length]
  if (missing !== undefined) return `${name} needs ${missing}.`
  const extra = given[wanted.length]
  if (extra === undefined || wanted.at(-1)?.endsWith('…]')) return null
  if (tooMany !== undefined) return tooMany
  const hint = wanted.length === 0 ? '' : ' If it belongs together, put it in quotes.'
  return `${name} does not know what to do with '${extra}'.${hint}`
}
