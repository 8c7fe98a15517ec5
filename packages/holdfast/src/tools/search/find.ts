import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { foldName } from '../../system/files/fold-name.ts'
import { compareText, keepFirst } from '../../system/keep-first.ts'
import { countArgument, pathArgument, textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { type DeniedTest, leftOutNote, noReadRules } from '../define/read-rules.ts'
import { compileGlob, type Glob } from './glob.ts'
import { refusedSearch, type SearchDeps, startRipgrep } from './ripgrep.ts'
import { namesHidden, openPlace, type SearchPlace } from './search-place.ts'

export const findLimitDefault = 200
export const findLimitMax = 1000
export const offsetMax = 100_000
const timeoutMs = 30_000
const patternCharsMax = 1000

const input = z.strictObject({
  pattern: textArgument
    .min(1, 'must not be empty')
    .max(patternCharsMax, `must not be longer than ${patternCharsMax} characters`)
    .refine((text) => !/[\r\n\0]/.test(text), 'must be one line')
    .describe('A glob: "*.ts" matches names at any depth, "src/**/*.ts" paths below path. Also ?, [a-z] and {a,b}.'),
  path: pathArgument.default('.').describe('The directory to look in, relative to the working directory. Default ".".'),
  type: z
    .enum(['file', 'directory', 'any'], { error: 'must be file, directory or any' })
    .default('file')
    .describe('What to find. Directories are found if they hold a file. Default file.'),
  max_depth: countArgument.optional().describe('How many levels deep to look: 1 is the directory itself.'),
  hidden: z.boolean({ error: 'must be true or false' }).default(false).describe('Also names that begin with a dot.'),
  ignored: z.boolean({ error: 'must be true or false' }).default(false).describe('Also what .gitignore leaves out.'),
  limit: countArgument
    .max(findLimitMax, `must be at most ${findLimitMax}`)
    .default(findLimitDefault)
    .describe(`How many paths to return. Default ${findLimitDefault}, at most ${findLimitMax}.`),
  offset: z
    .int({ error: 'must be a whole number' })
    .min(0, 'must be at least 0')
    .max(offsetMax, `must be at most ${offsetMax}`)
    .default(0)
    .describe('How many paths to skip, to read on after a limit.'),
})

type FindArgs = z.infer<typeof input>

/** Creates `find`. It lists paths with ripgrep, sorted, so that pages of one search fit together. */
export const createFind = (deps: SearchDeps) =>
  defineTool({
    name: 'find',
    description: `Finds files by name in the working directory with a glob, sorted by path. Files that .gitignore leaves out and names that begin with a dot are skipped unless asked for; .git always is. Links are not followed. At most ${findLimitMax} paths at a time.`,
    input,
    changes: 'nothing',

    async preview(args, { workdir }) {
      if (compileGlob(args.pattern) === null) return tooManyBraces
      const place = await openPlace(workdir, args.path, deps.ownPaths)
      if (!place.ok) return place
      await place.value[Symbol.asyncDispose]()
      if (isInGit(place.value)) return gitNotListed
      return ok({ preview: { type: 'arguments', args } })
    },

    run: whenBegun(async (args: FindArgs, context, { signal }) => {
      const glob = compileGlob(args.pattern)
      if (glob === null) return tooManyBraces
      const denied = await (deps.readRules ?? noReadRules).deniedTest('find', context)
      if (!denied.ok) return denied
      const opened = await openPlace(context.workdir, args.path, deps.ownPaths)
      if (!opened.ok) return opened
      await using place = opened.value
      if (isInGit(place)) return gitNotListed
      if (place.file) return refuse(fault('bad_request', `${escapeLine(args.path)} is a file, not a directory`))
      const scope = { hidden: args.hidden || namesHidden(args.pattern), ignored: args.ignored }
      const rules = { ...deps, isDenied: denied.value }
      const found = await list(glob, { ...args, ...scope }, place, rules, signal)
      if (!found.ok || found.value.count > 0 || (scope.hidden && scope.ignored)) return answer(args, found, false)
      const everything = await list(glob, { ...args, hidden: true, ignored: true }, place, rules, signal)
      return answer(args, found, everything.ok && everything.value.count > 0)
    }),
  })

const isInGit = ({ shown }: SearchPlace): boolean => shown.split('/').some((name) => foldName(name) === '.git')

const gitNotListed = refuse(
  fault(
    'bad_request',
    '.git is not searched by find. Use list_directory, or the git tools for what is in the repository.',
  ),
)

const tooManyBraces = refuse(fault('bad_request', 'pattern has braces that expand to too many patterns'))

type Found = {
  readonly paths: readonly string[]
  readonly count: number
  /** How many paths rules have left out. */
  readonly leftOut: number
  readonly note: string | null
}

/** Lists the matching paths below a place. */
async function list(
  glob: Glob,
  { pattern, hidden, ignored, type, max_depth, offset, limit }: FindArgs,
  place: SearchPlace,
  deps: SearchDeps & { readonly isDenied: DeniedTest | null },
  signal: AbortSignal,
): Promise<Result<Found>> {
  const depth = max_depth === undefined ? [] : [`--max-depth=${max_depth}`]
  const args = ['--files', '--null', ...depth, '--', './']
  // Ripgrep matches the names of files itself, in parallel. It lists no directories, so these are matched here.
  const scope = { hidden, ignored, glob: type === 'file' ? pattern : undefined }
  const started = await startRipgrep(args, place, scope, deps, { signal, timeoutMs })
  if (!started.ok) return started
  const first = keepFirst<string>(offset + limit, compareText)
  const folders = type === 'file' ? null : new Set<string>()
  let leftOut = 0
  const add = async (path: string) => {
    if (await deps.isDenied?.(place.shown + path.replace(/\/$/, ''))) leftOut++
    else first.add(path)
  }
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of started.value.output) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = bytes.lastIndexOf(0)
    rest = bytes.subarray(end + 1)
    if (end < 0) continue
    for (const path of bytes.toString('utf8', 0, end).split('\0'))
      await take(path.slice(2), { glob, type, add, folders })
  }
  const ended = await started.value.ended
  if (ended.type === 'aborted') return refuse(fault('bad_request', 'aborted'))
  if (ended.type === 'exited' && ended.code === 2 && first.count === 0) return refusedSearch(ended.errors)
  const note = noteOf(ended.type === 'timed out', ended.code === 2 ? ended.errors : '')
  return ok({
    paths: first
      .end()
      .slice(offset)
      .map((path) => place.shown + path),
    count: first.count,
    leftOut,
    note,
  })
}

type Taking = {
  readonly glob: Glob
  readonly type: FindArgs['type']
  readonly add: (path: string) => Promise<void>
  /** The directories seen so far, if they are wanted. */
  readonly folders: Set<string> | null
}

/** Takes a file, and the directories above it that were not seen before. */
async function take(path: string, { glob, type, add, folders }: Taking): Promise<void> {
  if (type === 'file' || (type === 'any' && glob(path))) await add(path)
  if (folders === null) return
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const folder = path.slice(0, at)
    if (folders.has(folder)) return
    folders.add(folder)
    if (glob(folder)) await add(`${folder}/`)
  }
}

/** Returns a note on a search that is not complete. */
export function noteOf(isLate: boolean, errors: string): string | null {
  if (isLate) return `stopped after ${timeoutMs / 1000} seconds: there may be more; narrow the search`
  return errors === '' ? null : `some places could not be read: ${escapeLine(errors.split('\n')[0] ?? '')}`
}

function answer(
  { pattern, offset, hidden, ignored }: FindArgs,
  found: Result<Found>,
  isHidden: boolean,
): Result<{ readonly text: string }> {
  if (!found.ok) return found
  const { paths, count, leftOut, note } = found.value
  const notes: string[] = []
  if (count === 0) {
    notes.push(`nothing matches ${escapeLine(pattern)}`)
    if (isHidden) notes.push(hiddenNote({ hidden, ignored }))
  } else if (paths.length === 0) notes.push(`offset ${offset} is past the end: ${count} paths match`)
  else if (offset + paths.length < count)
    notes.push(`${offset + 1} to ${offset + paths.length} of ${count}; continue with offset ${offset + paths.length}`)
  if (leftOut > 0) notes.push(leftOutNote(leftOut))
  if (note !== null) notes.push(note)
  return ok({ text: [...paths.map(escapeLine), ...(notes.length > 0 ? [`[${notes.join('; ')}]`] : [])].join('\n') })
}

/** Says that only files match that the search has left out. */
export function hiddenNote({ hidden, ignored }: { readonly hidden: boolean; readonly ignored: boolean }): string {
  const options = [...(hidden ? [] : ['hidden: true']), ...(ignored ? [] : ['ignored: true'])]
  return `but files match that .gitignore or a leading dot leaves out; set ${options.join(' or ')} to see them`
}
