import type { CommandSpec, FlagSpec } from './command-spec.ts'

/** The commands under a heading. */
export type CommandGroup = readonly [heading: string, specs: { readonly [name: string]: CommandSpec }]

const columns = 80
/** A longer first cell gets a line of its own. */
const firstCellMax = 30

/** Returns the help of the whole program. */
export function programHelp(version: string, commandGroups: readonly CommandGroup[]): string {
  const groups = commandGroups.flatMap(([heading, specs]) => [
    `${heading}:`,
    ...table(Object.entries(specs).map(([name, { about }]) => [name, about])),
    '',
  ])
  return lines(
    `Holdfast ${version} runs sessions with an AI agent and never loses one.`,
    '',
    'Usage: holdfast <command> [flags]',
    '',
    ...groups,
    'holdfast help <command> prints the help of a command; holdfast --version the',
    'version. HOLDFAST_HOME puts data, state and config into one directory.',
    '',
    'Data goes to standard output, everything else to standard error.',
    'Exit codes: 0 ok, 1 failed, 2 wrong usage, 130 interrupted.',
  )
}

/** Returns the help of one command. */
export function commandHelp(name: string, spec: CommandSpec): string {
  const { about, positionals = [], flags, list, notes = [] } = spec
  const rows = Object.entries(flags).map(([flag, spec]): Row => [flagCell(flag, spec), spec.about])
  return lines(
    `Usage: holdfast ${[name, ...positionals].join(' ')} [flags]`,
    '',
    `${about.charAt(0).toUpperCase()}${about.slice(1)}.`,
    '',
    'Flags:',
    ...table([...rows, ['-h, --help', 'print this help']]),
    ...(list ? ['', list.heading, ...table(list.rows)] : []),
    ...notes.flatMap((note) => ['', ...wrap(note, columns)]),
  )
}

type Row = readonly [string, string]

function flagCell(name: string, { short, value }: FlagSpec): string {
  const long = value === undefined ? `--${name}` : `--${name} <${value}>`
  return short === undefined ? `    ${long}` : `-${short}, ${long}`
}

function table(rows: readonly Row[]): readonly string[] {
  const width = Math.min(firstCellMax, Math.max(...rows.map(([first]) => first.length)))
  const indent = ' '.repeat(width + 4)
  return rows.flatMap(([first, second]) => {
    const [start = '', ...rest] = wrap(second, columns - indent.length)
    if (first.length <= width) return [`  ${first.padEnd(width)}  ${start}`, ...rest.map((line) => `${indent}${line}`)]
    const [head = '', ...tail] = wrap(first, columns - 6)
    return [`  ${head}`, ...tail.map((line) => `      ${line}`), ...[start, ...rest].map((line) => `${indent}${line}`)]
  })
}

/** Breaks a text at its spaces into lines of at most `width` characters. */
function wrap(text: string, width: number): readonly string[] {
  const broken: string[] = []
  for (const word of text.split(' ')) {
    const line = broken.at(-1)
    if (line === undefined || line.length + 1 + word.length > width) broken.push(word)
    else broken[broken.length - 1] = `${line} ${word}`
  }
  return broken
}

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`
