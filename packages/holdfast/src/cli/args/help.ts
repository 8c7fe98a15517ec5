import { wrapWords } from '../render/wrap-words.ts'
import type { Output } from '../terminal/output.ts'
import { type CommandSpec, commandLine, type FlagSpec } from './command-spec.ts'

/** The commands under a heading. */
export type CommandGroup = readonly [heading: string, specs: { readonly [name: string]: CommandSpec }]

/** Lines longer than this are hard to read. */
const columnsMax = 100
const columnsMin = 40

/** Returns how wide a help is: as the terminal, within reason; 80 where there is none. */
export const helpColumns = ({ columns }: Pick<Output, 'columns'>): number =>
  Math.max(columnsMin, Math.min(columnsMax, columns ?? 80))

/** A longer first cell gets a line of its own. */
const firstCellMax = 30

/** Returns the help of the whole program. */
export function programHelp(version: string, commandGroups: readonly CommandGroup[], columns: number): string {
  const groups = commandGroups.flatMap(([heading, specs]) => [
    `${heading}:`,
    ...table(
      Object.entries(specs).map(([name, { about }]) => [name, about]),
      columns,
    ),
    '',
  ])
  return lines(
    ...wrapWords(`Holdfast ${version} runs sessions with an AI agent and never loses one.`, columns),
    '',
    'Usage: holdfast <command> [flags]',
    '',
    ...terminalHelp(columns),
    '',
    ...groups,
    ...wrapWords(
      'holdfast help <command> prints the help of a command, holdfast version the version. HOLDFAST_HOME puts data, state and config into one directory.',
      columns,
    ),
    '',
    ...wrapWords('Data goes to standard output, everything else to standard error.', columns),
    ...wrapWords('Exit codes: 0 ok, 1 failed, 2 wrong usage, 130 interrupted.', columns),
  )
}

/** Returns how the terminal UI is opened. */
const terminalHelp = (columns: number): readonly string[] => [
  'Work in this terminal:',
  ...table(
    [
      ['holdfast', 'start a new session in this folder'],
      ['holdfast -c', 'continue the latest session of this folder'],
      ['holdfast -r', 'choose a session from a list'],
      ['holdfast <session>', 'open that session'],
      ['holdfast help holdfast', 'list the flags of these'],
    ],
    columns,
  ),
]

/** Returns the help of one command. */
export function commandHelp(name: string, spec: CommandSpec, columns: number): string {
  const { about, positionals = [], flags, list, notes = [] } = spec
  const rows = Object.entries(flags).map(([flag, spec]): Row => [flagCell(flag, spec), spec.about])
  return lines(
    `Usage: ${[commandLine(name), ...positionals].join(' ')} [flags]`,
    '',
    `${about.charAt(0).toUpperCase()}${about.slice(1)}.`,
    '',
    'Flags:',
    ...table([...rows, ['-h, --help', 'print this help']], columns),
    ...(list ? ['', list.heading, ...table(list.rows, columns)] : []),
    ...notes.flatMap((note) => ['', ...wrapWords(note, columns)]),
  )
}

type Row = readonly [string, string]

function flagCell(name: string, { short, value }: FlagSpec): string {
  const long = value === undefined ? `--${name}` : `--${name} <${value}>`
  return short === undefined ? `    ${long}` : `-${short}, ${long}`
}

function table(rows: readonly Row[], columns: number): readonly string[] {
  const width = Math.min(firstCellMax, Math.floor(columns / 2.5), Math.max(...rows.map(([first]) => first.length)))
  const indent = ' '.repeat(width + 4)
  return rows.flatMap(([first, second]) => {
    const [start = '', ...rest] = wrapWords(second, columns - indent.length)
    if (first.length <= width) return [`  ${first.padEnd(width)}  ${start}`, ...rest.map((line) => `${indent}${line}`)]
    const [head = '', ...tail] = wrapWords(first, columns - 6)
    return [`  ${head}`, ...tail.map((line) => `      ${line}`), ...[start, ...rest].map((line) => `${indent}${line}`)]
  })
}

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`
