import { relative, resolve } from 'node:path'
import type { RuledCall } from '@holdfast/core/ports'
import { escapeLine, limits, type Permission } from '@holdfast/protocol'
import { foldName } from '../../system/files/fold-name.ts'
import { resolvePath } from '../../system/files/resolve-path.ts'
import { type Work, workOfSlice } from '../../system/work-slices.ts'
import { fitsPieces, fitsText } from './commands/text-pattern.ts'
import { compilePathGlob, globProblem, isAddress, type PathGlob } from './path-glob.ts'

/** Arguments of file tools that name a path. */
const pathNames = ['path', 'new_path', 'from', 'to', 'source', 'destination', 'file', 'directory']
const pathLists = ['paths', 'files']
const textNames = ['command', 'url']

/** Tools that show the model lines of a file, or give it another name. */
const readingTools: ReadonlySet<string> = new Set(['edit_file', 'multi_edit_file', 'apply_diff', 'move_file'])

/** Whether a rule counts for a tool: what `read_file` may not read, or asks about, no other tool shows or moves either. */
export const isRuleFor = ({ tool, pattern, verdict }: Permission, name: string): boolean =>
  tool === name ||
  tool === '*' ||
  (tool === 'read_file' && pattern !== undefined && verdict !== 'allow' && readingTools.has(name))

/** What a call names, each in every spelling: a rule that forbids matches any of them, one that allows matches all. */
export type CallTargets = {
  readonly paths: readonly (readonly string[])[]
  readonly texts: readonly (readonly string[])[]
}

/** A call that names more paths, or longer ones together, is not compared with patterns: each is looked up on the disk. */
const pathsMax = 200
const pathsCharsMax = 64 * 1024

/**
 * Returns why a call is not compared with patterns; null if it is. Tools refuse what is too long, but only after the rules
 * were asked.
 */
export function findExcess({ args }: Pick<RuledCall, 'args'>): string | null {
  const paths = pathsIn(args)
  if (paths.length > pathsMax) return `it names ${paths.length} paths, and rules judge at most ${pathsMax}`
  if (paths.some(({ length }) => length > limits.toolPathCharsMax))
    return `a path is longer than ${limits.toolPathCharsMax} characters`
  if (paths.reduce((sum, { length }) => sum + length, 0) > pathsCharsMax)
    return `its paths have more than ${pathsCharsMax} characters`
  const isLong = textsIn(args).some((text) => Buffer.byteLength(text) > limits.shellCommandBytesMax)
  return isLong ? `its command or address is longer than ${limits.shellCommandBytesMax} bytes` : null
}

/** Returns why the paths of a call are not compared with a rule that forbids: its pattern cannot be read. Null if all can be. */
export function findUnreadable(rules: readonly Permission[], { args }: Pick<RuledCall, 'args'>): string | null {
  const paths = pathsIn(args)
  if (paths.length === 0) return null
  const isForbidding = ({ verdict, exact }: Permission) => verdict !== 'allow' && !exact
  for (const { pattern = '' } of rules.filter(isForbidding)) {
    if (isAddress(pattern)) continue
    const problem = globProblem(pattern)
    if (problem !== null) return `the pattern ${escapeLine(pattern)} cannot be read: ${problem}`
    if (paths.some((path) => isTooMuch(pattern, path))) return 'a pattern and a path are too long together'
  }
  return null
}

function pathsIn(args: RuledCall['args']): readonly string[] {
  const given = [...pathNames.map((name) => args[name]), ...pathLists.flatMap((name) => listOf(args[name]))]
  return given.filter((path) => typeof path === 'string')
}

const textsIn = (args: RuledCall['args']): readonly string[] =>
  textNames.map((name) => args[name]).filter((text) => typeof text === 'string')

/** Returns the paths, addresses and other texts that a call names. */
export async function targetsOf({ args, workdir }: RuledCall): Promise<CallTargets> {
  const [paths, texts] = [pathsIn(args), textsIn(args)]
  return {
    paths: await Promise.all(paths.map((path) => spellingsOf(workdir, path))),
    texts: texts.map((text) => [text, ...addressesOf(text)]),
  }
}

/** Returns an address as it is fetched, and without the dot that a host may end with: both mean the same host. */
function addressesOf(text: string): readonly string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const asFetched = url.href
  url.hostname = url.hostname.replace(/\.$/, '')
  return [...new Set([asFetched, url.href])]
}

/** Whether a call of a tool can name anything that a pattern matches, by the JSON Schema of its arguments. */
export function canHaveTargets({ properties }: { readonly properties?: unknown }): boolean {
  const names = typeof properties === 'object' && properties !== null ? properties : {}
  return [...pathNames, ...pathLists, ...textNames].some((name) => Object.hasOwn(names, name))
}

/** Whether a pattern can match an address of `http` or `https`. */
export const isAddressPattern = (pattern: string): boolean => /^(?:\*|https?:)/.test(pattern)

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns a path in the workdir as it is written, without `.` and `..`, and where its links lead. */
async function spellingsOf(workdir: string, path: string): Promise<readonly string[]> {
  const written = relative(workdir, resolve(workdir, path)) || '.'
  const real = await resolvePath(workdir, path)
  return real.ok && real.value.shown !== written ? [written, real.value.shown] : [written]
}

/**
 * Whether a rule with a pattern applies to what a call names. A rule that forbids applies also if its pattern cannot be read
 * and the call names a path; one that allows does not.
 */
export async function fitsTargets(
  { pattern = '', verdict }: Permission,
  { paths, texts }: CallTargets,
  workdir: string,
): Promise<boolean> {
  const tests = testsOf(pattern, workdir)
  const fits = (text: string) => fitsText(pattern, text)
  if (verdict !== 'allow') {
    if (tests === null && paths.length > 0 && !isAddress(pattern)) return true
    return (tests !== null && (await hasSome(paths.flat(), tests.isForbidden))) || hasSome(texts.flat(), fits)
  }
  if (paths.length + texts.length === 0 || (tests === null && paths.length > 0)) return false
  const isPathLeftOut: Test = (path, work) => !tests?.isPath(path, work)
  return !(await hasSome(paths.flat(), isPathLeftOut)) && !(await hasSome(texts.flat(), (text) => !fits(text)))
}

type Test = (text: string, work: Work) => boolean

/** Whether a test fits one of some texts. Much is compared in several slices. */
async function hasSome(texts: readonly string[], test: Test): Promise<boolean> {
  for (const text of texts) {
    const current = workOfSlice()
    const work = current instanceof Promise ? await current : current
    work.steps += text.length
    if (test(text, work)) return true
  }
  return false
}

/** The tests of a pattern for paths: that of rules which allow, and that of rules which forbid. */
type PathTests = {
  readonly isPath: PathGlob
  /** Also matches other spellings that a file system may take for the same name. */
  readonly isForbidden: (path: string, work: Work, folded?: string) => boolean
}

/** Rules are read for each call, but seldom change. */
const known = new Map<string, PathTests | null>()
const knownMax = 4000

/** Returns the tests of a pattern; null if it cannot be read. */
export function testsOf(pattern: string, workdir: string): PathTests | null {
  const glob = pattern.startsWith('/') ? relative(workdir, pattern) || '.' : pattern.replace(/^(\.\/)+/, '')
  const found = known.get(glob)
  if (found !== undefined) return found
  if (known.size >= knownMax) known.clear()
  const tests = compileTests(glob)
  known.set(glob, tests)
  return tests
}

/** What a test costs beside the comparisons that it counts. */
const stepsPerTest = 20

/** Characters of a pattern times those of a path: more would take too long for one slice. */
const productMax = 250_000
const isTooMuch = (glob: string, path: string): boolean => glob.length * path.length > productMax

function compileTests(glob: string): PathTests | null {
  const compiled = compilePathGlob(glob)
  if (compiled === null) return null
  const isPath: PathGlob = (path, work) => !isTooMuch(glob, path) && compiled(path, work)
  const foldedGlob = foldName(glob)
  const isFolded = foldedGlob === glob ? isPath : (compilePathGlob(foldedGlob) ?? (() => false))
  // A star of an older rule also matches `/`.
  const [pieces, foldedPieces] = [glob.split('*'), foldedGlob.split('*')]
  const isForbidden: PathTests['isForbidden'] = (path, work, folded = foldName(path)) => {
    work.steps += stepsPerTest
    if (isTooMuch(glob, path) || isPath(path, work) || fitsPieces(pieces, path)) return true
    if (folded === path && foldedGlob === glob) return false
    return isFolded(folded, work) || fitsPieces(foldedPieces, folded)
  }
  return { isPath, isForbidden }
}
