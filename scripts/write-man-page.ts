import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { CommandSpec, FlagSpec } from '../packages/holdfast/src/cli/args/command-spec.ts'
import { commandGroups } from '../packages/holdfast/src/cli/commands.ts'
import { tuiSpec } from '../packages/holdfast/src/cli/tui/spec.ts'

/** Where the manual page is: `man` of the published package names it. */
export const manPagePath = resolve(import.meta.dirname, '../packages/holdfast/man/holdfast.1')

/** The flags that choose what the terminal UI opens, for the synopsis. */
const tuiFlags = Object.entries<FlagSpec>(tuiSpec.flags).flatMap(([, { short }]) =>
  short === undefined ? [] : [`\\fB\\-${short}\\fR`],
)

/** Writes the manual page of the program from the specs of its commands. */
export function renderManPage(): string {
  const commands = commandGroups.flatMap(([heading, specs]) => [
    `.SS ${heading}`,
    ...Object.entries(specs).flatMap(([name, spec]) => commandLines(name, spec)),
  ])
  return `${[
    '.\\" Written by scripts/write-man-page.ts from the specs of the commands.',
    '.TH HOLDFAST 1 "" "Holdfast" "User Commands"',
    '.SH NAME',
    'holdfast \\- run sessions with an AI agent and never lose one',
    '.SH SYNOPSIS',
    '.B holdfast',
    `[${[...tuiFlags, '\\fIsession\\fR'].join(' | ')}] [flags]`,
    '.br',
    '.B holdfast',
    '.I command',
    '[flags]',
    '.br',
    '.B holdfast version',
    '.SH DESCRIPTION',
    'Data goes to standard output, everything else to standard error.',
    'Every reading command takes \\fB\\-\\-json\\fR.',
    '.SH TERMINAL UI',
    'Without a command, holdfast opens the terminal UI.',
    ...flagLines(tuiSpec),
    ...definition('session', 'Open this session.'),
    ...tuiSpec.notes.flatMap((note) => ['.PP', escaped(note)]),
    '.SH COMMANDS',
    ...commands,
    '.SS Help',
    ...definition('help <command>', 'Print the help of a command.'),
    ...definition('version, -v, --version', 'Print the version.'),
    '.SH EXIT STATUS',
    ...definition('0', 'The command did its work.'),
    ...definition('1', 'It failed.'),
    ...definition('2', 'Its arguments are wrong.'),
    ...definition('130', 'It was interrupted.'),
    '.SH ENVIRONMENT',
    ...definition('HOLDFAST_HOME', 'Puts data, state and config into one directory.'),
    ...definition('HOLDFAST_STORE', 'The store: sqlite:PATH, jsonl:DIR or postgres://…'),
    ...definition('HOLDFAST_BLOBS', 'Where a PostgreSQL store keeps new files: s3://BUCKET/PREFIX'),
    ...definition('HOLDFAST_PAGER, PAGER', 'The pager for long output; cat for none.'),
    ...definition('NO_COLOR, FORCE_COLOR', 'Turn colour off, or on.'),
  ].join('\n')}\n`
}

const flagLines = ({ flags }: Pick<CommandSpec, 'flags'>): readonly string[] =>
  Object.entries(flags).flatMap(([flag, spec]) => definition(flagText(flag, spec), sentence(spec.about)))

function commandLines(name: string, { about, positionals = [], flags, notes = [] }: CommandSpec): readonly string[] {
  return [
    '.TP',
    `.B ${escaped([name, ...positionals].join(' '))}`,
    sentence(about),
    '.RS',
    ...flagLines({ flags }),
    ...notes.flatMap((note) => ['.PP', escaped(note)]),
    '.RE',
  ]
}

const flagText = (name: string, { short, value }: FlagSpec): string =>
  `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`

const definition = (term: string, text: string): readonly string[] => ['.TP', `.B ${escaped(term)}`, text]

const sentence = (about: string): string => escaped(`${about.charAt(0).toUpperCase()}${about.slice(1)}.`)

/** Escapes text for roff: hyphens stay hyphens, and no line begins with a control character. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&')

if (import.meta.main) {
  await mkdir(dirname(manPagePath), { recursive: true })
  await writeFile(manPagePath, renderManPage())
}
