import { escapeHidden, escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { compareText } from '../../system/keep-first.ts'
import { countArgument, pathArgument, textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { type DeniedTest, leftOutNote, noReadRules } from '../define/read-rules.ts'
import { hiddenNote, noteOf, offsetMax } from './find.ts'
import { createMatchReader, type Match } from './match-reader.ts'
import { refusedSearch, type Scope, type SearchDeps, startRipgrep } from './ripgrep.ts'
import { namesHidden, openPlace, type SearchPlace } from './search-place.ts'

const limitDefault = 100
const limitMax = 1000
const contextMax = 10
const patternCharsMax = 10_000
const timeoutMs = 30_000
/** A search with more results than this is ended: nobody reads them all. */
const resultsMax = 10_000
const columnsMax = 500
const fileSizeMax = '256M'

const input = z.strictObject({
  pattern: textArgument
    .min(1, 'must not be empty')
    .max(patternCharsMax, `must not be longer than ${patternCharsMax} characters`)
    .refine((text) => !text.includes('\0'), 'must not hold a NUL character; write \\x00')
    .describe('A regular expression in the syntax of Rust, matched against each line.'),
  path: pathArgument
    .default('.')
    .describe('The directory or file to search, relative to the working directory. Default ".".'),
  glob: textArgument
    .min(1, 'must not be empty')
    .max(1000, 'must not be longer than 1000 characters')
    .refine((text) => !/[\r\n\0]/.test(text), 'must be one line')
    .optional()
    .describe('Search only files that match, such as "*.ts" or "src/**/*.{ts,tsx}", relative to path.'),
  case_sensitive: z.boolean({ error: 'must be true or false' }).default(true).describe('Default true.'),
  literal: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe('Take the pattern as plain text, not as a regular expression.'),
  mode: z
    .enum(['content', 'files', 'count'], { error: 'must be content, files or count' })
    .default('content')
    .describe('content: the lines. files: only the paths. count: the number of lines for each file.'),
  context_lines: z
    .int({ error: 'must be a whole number' })
    .min(0, 'must be at least 0')
    .max(contextMax, `must be at most ${contextMax}`)
    .default(0)
    .describe(`Lines to show before and after each match. At most ${contextMax}.`),
  hidden: z.boolean({ error: 'must be true or false' }).default(false).describe('Also names that begin with a dot.'),
  ignored: z.boolean({ error: 'must be true or false' }).default(false).describe('Also what .gitignore leaves out.'),
  limit: countArgument
    .max(limitMax, `must be at most ${limitMax}`)
    .default(limitDefault)
    .describe(`How many matching lines or files to return. Default ${limitDefault}, at most ${limitMax}.`),
  offset: z
    .int({ error: 'must be a whole number' })
    .min(0, 'must be at least 0')
    .max(offsetMax, `must be at most ${offsetMax}`)
    .default(0)
    .describe('How many matches to skip, to read on after a limit.'),
})

type GrepArgs = z.infer<typeof input>

/** Creates `grep`. It searches with ripgrep; results are sorted, so that pages of one search fit together. */
export const createGrep = (deps: SearchDeps) =>
  defineTool({
    name: 'grep',
    description: `Searches the text files of the working directory for a regular expression, line by line. Files that .gitignore leaves out and names that begin with a dot are skipped unless asked for; .git and files over ${fileSizeMax} always are. A binary file is searched up to its first NUL. Links are not followed. Lines are cut at ${columnsMax} bytes. At most ${limitMax} matches at a time.`,
    input,
    changes: 'nothing',

    async preview(args, { workdir }) {
      const place = await openPlace(workdir, args.path, deps.ownPaths)
      if (!place.ok) return place
      await place.value[Symbol.asyncDispose]()
      return ok({ preview: { type: 'arguments', args } })
    },

    run: whenBegun(async (args: GrepArgs, context, { signal }) => {
      const denied = await (deps.readRules ?? noReadRules).deniedTest('grep', context)
      if (!denied.ok) return denied
      const opened = await openPlace(context.workdir, args.path, deps.ownPaths)
      if (!opened.ok) return opened
      await using place = opened.value
      const { glob, ignored } = args
      const scope = { glob: place.file ? undefined : glob, hidden: args.hidden || namesHidden(glob ?? ''), ignored }
      const rules = { ...deps, isDenied: denied.value }
      const leftOut = await countDenied(place, scope, rules, signal)
      const found = await search(args, place, scope, rules, signal)
      if (!found.ok) return found
      const isComplete = found.value.matches.length > 0 || place.file !== null || (scope.hidden && scope.ignored)
      const isHidden = !isComplete && (await matchesAnything(args, place, scope, rules, signal))
      return ok({ text: answer(args, { ...found.value, leftOut }, isHidden) })
    }),
  })

type Found = { readonly matches: readonly Match[]; readonly isStopped: boolean; readonly note: string | null }

type RuledDeps = SearchDeps & { readonly isDenied: DeniedTest | null }

/**
 * Returns how many paths of the search rules leave out. They are counted whether they match or not: a count of matches would
 * tell what is in them.
 */
async function countDenied(
  place: SearchPlace,
  scope: Scope,
  { isDenied, ...deps }: RuledDeps,
  signal: AbortSignal,
): Promise<number> {
  if (isDenied === null) return 0
  if (place.file) return (await isDenied(place.shown)) ? 1 : 0
  const started = await startRipgrep(['--files', '--null', '--', './'], place, scope, deps, { signal, timeoutMs })
  if (!started.ok) return 0
  const reader = createMatchReader('files')
  let count = 0
  for await (const chunk of started.value.output)
    for (const { path } of reader.read(chunk)) if (await isDenied(place.shown + path)) count++
  await started.value.ended
  return count
}

const modeFlags = {
  content: [
    '--line-number',
    '--no-heading',
    '--no-context-separator',
    `--max-columns=${columnsMax}`,
    '--max-columns-preview',
  ],
  files: ['--files-with-matches'],
  count: ['--count'],
} as const

async function search(
  { pattern, case_sensitive, literal, mode, context_lines }: GrepArgs,
  place: SearchPlace,
  scope: Scope,
  { isDenied, ...deps }: RuledDeps,
  signal: AbortSignal,
): Promise<Result<Found>> {
  const args = [
    ...modeFlags[mode],
    ...['--with-filename', '--null', `--max-filesize=${fileSizeMax}`],
    ...(mode === 'content' ? [`--context=${context_lines}`, `--max-count=${resultsMax}`] : []),
    ...[case_sensitive ? '--case-sensitive' : '--ignore-case', ...(literal ? ['--fixed-strings'] : [])],
    // Behind -e and -- nothing is taken for a flag: a pattern like --pre=x would run x.
    ...['-e', pattern, '--', place.file ? '/dev/fd/3' : './'],
  ]
  const started = await startRipgrep(args, place, scope, deps, { signal, timeoutMs })
  if (!started.ok) return started
  const reader = createMatchReader(mode)
  const shownPath = (path: string) => (place.file ? place.shown : place.shown + path)
  const matches: Match[] = []
  let results = 0
  let isStopped = false
  for await (const chunk of started.value.output) {
    for (const match of reader.read(chunk)) {
      if (await isDenied?.(shownPath(match.path))) continue
      matches.push(match)
      if (match.isMatch) results++
    }
    isStopped = results > resultsMax
    if (isStopped) break
  }
  if (isStopped) started.value.stop()
  const ended = await started.value.ended
  if (ended.type === 'aborted') return refuse(fault('bad_request', 'aborted'))
  const isRefused = ended.type === 'exited' && ended.code === 2
  if (isRefused && matches.length === 0) return refusedSearch(ended.errors)
  const shown = matches.map((match) => ({ ...match, path: shownPath(match.path) }))
  // Ripgrep searches files in parallel: their order differs each time. Within a file it is already right.
  shown.sort((one, other) => compareText(one.path, other.path) || one.line - other.line)
  return ok({ matches: shown, isStopped, note: noteOf(ended.type === 'timed out', isRefused ? ended.errors : '') })
}

/** Returns whether anything matches if hidden and ignored files are searched too. */
async function matchesAnything(
  args: GrepArgs,
  place: SearchPlace,
  { glob }: Scope,
  { isDenied, ...deps }: RuledDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const { pattern, case_sensitive, literal } = args
  const flags = [
    ...['--files-with-matches', '--null', `--max-filesize=${fileSizeMax}`],
    ...[case_sensitive ? '--case-sensitive' : '--ignore-case', ...(literal ? ['--fixed-strings'] : [])],
    ...['-e', pattern, '--', './'],
  ]
  const started = await startRipgrep(flags, place, { glob, hidden: true, ignored: true }, deps, { signal, timeoutMs })
  if (!started.ok) return false
  const reader = createMatchReader('files')
  let isFound = false
  for await (const chunk of started.value.output) {
    for (const { path } of reader.read(chunk)) {
      isFound = !(await isDenied?.(place.shown + path))
      if (isFound) break
    }
    if (isFound) break
  }
  started.value.stop()
  await started.value.ended
  return isFound
}

function answer(
  args: GrepArgs,
  { matches, isStopped, note, leftOut }: Found & { readonly leftOut: number },
  isHidden: boolean,
): string {
  const { offset, limit, mode } = args
  const count = matches.filter(({ isMatch }) => isMatch).length
  const page = pageOf(matches, offset, limit)
  const shown = page.filter(({ isMatch }) => isMatch).length
  const notes: string[] = []
  if (count === 0) {
    notes.push('no match')
    if (isHidden) notes.push(hiddenNote(args))
  } else if (shown === 0) notes.push(`offset ${offset} is past the end: ${count} match`)
  else if (isStopped) notes.push(`stopped at ${resultsMax} matches; narrow the pattern, the path or the glob`)
  else if (offset + shown < count)
    notes.push(`${offset + 1} to ${offset + shown} of ${count}; continue with offset ${offset + shown}`)
  if (leftOut > 0) notes.push(leftOutNote(leftOut))
  if (note !== null) notes.push(note)
  const lines =
    mode === 'content' ? linesOf(page) : page.map(({ path, text }) => escapeLine(path) + (text && `: ${text}`))
  return [...lines, ...(notes.length > 0 ? [`[${notes.join('; ')}]`] : [])].join('\n')
}

/** Returns `limit` matches after the first `offset`, with the lines of context beside them. */
function pageOf(matches: readonly Match[], offset: number, limit: number): readonly Match[] {
  const places = matches.flatMap(({ isMatch }, index) => (isMatch ? [index] : []))
  const wanted = places.slice(offset, offset + limit)
  let [from = 0, to = -1] = [wanted[0], wanted.at(-1)]
  const isContext = (index: number, of: number) =>
    matches[index]?.isMatch === false && matches[index].path === matches[of]?.path
  while (isContext(from - 1, from)) from--
  while (isContext(to + 1, to)) to++
  return matches.slice(from, to + 1)
}

/** Shows the lines of each file below its path: `12:` is a match, `12-` stands beside one. */
function linesOf(page: readonly Match[]): readonly string[] {
  const lines: string[] = []
  const hasContext = page.some(({ isMatch }) => !isMatch)
  let last: Match | null = null
  for (const match of page) {
    if (match.path !== last?.path) lines.push(...(last === null ? [] : ['']), escapeLine(match.path))
    else if (hasContext && match.line > last.line + 1) lines.push('--')
    lines.push(`${match.line}${match.isMatch ? ':' : '-'}${escapeHidden(match.text)}`)
    last = match
  }
  return lines
}
