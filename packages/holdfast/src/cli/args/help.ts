import { type CommandName, type CommandSpec, commandNames, commandTable, type FlagSpec } from './command-specs.ts'

/** The help of the whole program. */
export function programHelp(version: string): string {
  const rows = commandNames.map((name): Row => [usageOf(name, commandTable[name]), commandTable[name].about])
  return lines(
    `Holdfast ${version}: conversations with an agent that are never lost.`,
    '',
    'Usage: holdfast <command> [flags]',
    '',
    ...table(rows),
    '',
    ...table([
      ['help <command>', 'more about a command'],
      ['--version', 'the version'],
    ]),
    '',
    'HOLDFAST_HOME moves all data, state and config below one directory.',
    'Data goes to standard output, everything else to standard error.',
    'Exit codes: 0 ok, 1 failed, 2 not understood, 130 interrupted.',
  )
}

/** The help of one command. */
export function commandHelp(name: CommandName): string {
  const spec: CommandSpec = commandTable[name]
  const flags = Object.entries(spec.flags).map(([flag, one]): Row => [flagOf(flag, one), one.about])
  return lines(
    `holdfast ${usageOf(name, spec)} [flags]: ${spec.about}`,
    '',
    ...table([...flags, ['-h, --help', 'this help']]),
    ...(spec.notes ? ['', ...spec.notes] : []),
  )
}

type Row = readonly [string, string]

const usageOf = (name: string, { words }: CommandSpec): string => [name, ...words].join(' ')

function flagOf(name: string, { short, takes }: FlagSpec): string {
  const long = takes === undefined ? `--${name}` : `--${name} <${takes}>`
  return short === undefined ? `    ${long}` : `-${short}, ${long}`
}

function table(rows: readonly Row[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`
