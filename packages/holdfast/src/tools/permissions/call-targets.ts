import { relative, resolve } from 'node:path'
import type { RuledCall } from '@holdfast/core/ports'
import { limits, type Permission } from '@holdfast/protocol'
import { foldName } from '../../system/files/fold-name.ts'
import { resolvePath } from '../../system/files/resolve-path.ts'
import { ownTurn } from '../../system/own-turn.ts'
import { fitsText } from './commands/text-pattern.ts'

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

/** Whether a rule with a pattern applies to what a call names. */
export async function fitsTargets(
  { pattern = '', verdict }: Permission,
  { paths, texts }: CallTargets,
  workdir: string,
): Promise<boolean> {
  const { isPath, isForbidden } = await testsOf(pattern, workdir)
  const fits = (text: string) => fitsText(pattern, text)
  if (verdict !== 'allow') return (await hasSome(paths.flat(), isForbidden)) || hasSome(texts.flat(), fits)
  if (paths.length + texts.length === 0) return false
  const isLeftOut = (covers: (text: string) => boolean) => (text: string) => !covers(text)
  return !(await hasSome(paths.flat(), isLeftOut(isPath))) && !(await hasSome(texts.flat(), isLeftOut(fits)))
}

/** Characters that are compared in one turn of the event loop: a pattern with several `**` can take milliseconds for them. */
const charsPerTurn = 4096

/** Whether a test fits one of some texts. Long ones are compared in turns of their own. */
async function hasSome(texts: readonly string[], test: (text: string) => boolean): Promise<boolean> {
  let chars = 0
  for (const text of texts) {
    chars += text.length
    if (chars > charsPerTurn) {
      await ownTurn()
      chars = text.length
    }
    if (test(text)) return true
  }
  return false
}

/**
 * Returns the tests of a pattern for paths: that of rules which allow, and that of rules which forbid. Only the latter also
 * matches other spellings that a file system may take for the same name.
 */
export async function testsOf(pattern: string, workdir: string) {
  const { default: picomatch } = await import('picomatch')
  const glob = pattern.startsWith('/') ? relative(workdir, pattern) || '.' : pattern.replace(/^(\.\/)+/, '')
  const folded = foldName(glob)
  const options = { dot: true, nonegate: true }
  const [matcher, foldedMatcher] = [picomatch(glob, options), picomatch(folded, options)]
  const isPath = (path: string): boolean => matcher(path) // it takes more arguments, which `every` would give
  const isFolded = (path: string): boolean => foldedMatcher(path) || fitsText(folded, path)
  return {
    isPath,
    // A star of an older rule also matches `/`.
    isForbidden: (path: string): boolean => isPath(path) || fitsText(glob, path) || isFolded(foldName(path)),
  }
}
