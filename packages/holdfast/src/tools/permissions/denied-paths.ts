import { relative, resolve } from 'node:path'
import { ownSlice } from '@holdfast/core/ports'
import {
  escapeLine,
  fault,
  isPathRule,
  limits,
  literalPath,
  ok,
  type Permission,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { foldName } from '../../system/files/fold-name.ts'
import { isInside } from '../../system/files/resolve-path.ts'
import { workOfSlice } from '../../system/work-slices.ts'
import type { DeniedTest } from '../define/read-rules.ts'
import { fitsTargets, targetsOf, testsOf } from './call-targets.ts'
import { globProblem, isAddress } from './path-glob.ts'

const isDenied = (rule: Permission): boolean => rule.verdict === 'deny' && isPathRule(rule)

/** Tools whose rules say what may be read. */
const readingTools: ReadonlySet<string> = new Set(['*', 'read_file'])

/**
 * Returns the paths that rules keep tools from reading, as far as a rule names one file or a whole folder (`secrets/**`). What
 * other patterns match is not known without a search.
 */
export function deniedPaths(rules: readonly Permission[], workdir: string): readonly string[] {
  return rules
    .filter((rule) => isDenied(rule) && readingTools.has(rule.tool))
    .flatMap(({ pattern = '' }) => {
      const literal = literalPath(pattern)
      if (literal === null) return []
      const path = resolve(workdir, literal)
      return path === workdir || isInside(path, workdir) ? [] : [path]
    })
}

/** Returns whether rules deny a path to a tool that finds paths itself, as `grep` does; null if no rule can. */
export async function deniedTest(
  rules: readonly Permission[],
  tool: string,
  workdir: string,
): Promise<Result<DeniedTest | null>> {
  const denied = rules.filter((rule) => isDenied(rule) && (readingTools.has(rule.tool) || rule.tool === tool))
  if (denied.length === 0) return ok(null)
  const tests: NonNullable<ReturnType<typeof testsOf>>[] = []
  for (const { pattern = '' } of denied) {
    ;(await workOfSlice()).steps += pattern.length * stepsPerChar
    const found = testsOf(pattern, workdir)
    if (found === null && !isAddress(pattern)) return refuse(unreadableRule(pattern))
    if (found !== null) tests.push(found)
  }
  let last = { path: '', isDenied: false } // a search finds many lines of one file
  return ok(async (path) => {
    if (path === last.path) return last.isDenied
    const folded = foldName(path)
    let isFound = false
    for (const { isForbidden } of tests) {
      const work = workOfSlice()
      isFound = isForbidden(path, work instanceof Promise ? await work : work, folded)
      if (isFound) break
    }
    last = { path, isDenied: isFound }
    return isFound
  })
}

/** What it costs to compile a pattern. */
const stepsPerChar = 20

/** Says that a stored rule has a pattern that is not compared. */
const unreadableRule = (pattern: string) =>
  fault(
    'bad_request',
    `The deny rule ${escapeLine(pattern)} cannot be read: ${globProblem(pattern)} Remove it, and add it anew.`,
    {
      pattern,
    },
  )

/** More names, or longer ones together, are not looked up: then any of them may be denied. */
const namesMax = 1000
const namesCharsMax = 64 * 1024
/** Names that are looked up at once. */
const namesPerSlice = 100

/** Returns the rules that deny a path which a command names: tools refuse it, so a person decides about the command. */
export async function findNamedPaths<Rule extends Permission>(
  rules: readonly Rule[],
  command: string,
  workdir: string,
): Promise<readonly Rule[]> {
  const denied = rules.filter(isDenied)
  if (denied.length === 0) return []
  const paths = namesIn(command)
  if (paths === null) return denied
  const found = new Set<Rule>()
  for (let from = 0; from < paths.length; from += namesPerSlice) {
    if (from > 0) await ownSlice()
    const args = { paths: paths.slice(from, from + namesPerSlice) }
    const { paths: spelled } = await targetsOf({ tool: 'shell', args, workdir })
    const inside = spelled.map((spellings) => spellings.filter((one) => one !== '.' && !one.startsWith('../')))
    for (const rule of denied) {
      if (found.has(rule)) continue
      const isAbsolute = rule.pattern?.startsWith('/') === true && relative(workdir, rule.pattern).startsWith('../')
      const targets = { paths: isAbsolute ? spelled : inside, texts: [] }
      if (await fitsTargets(rule, targets, workdir)) found.add(rule)
    }
  }
  return denied.filter((rule) => found.has(rule))
}

/**
 * Returns what may be a path in a command, in each folder that it may go to before; null if that is too much. What the shell
 * would expand is not known.
 */
function namesIn(command: string): readonly string[] | null {
  if (command.length > namesCharsMax) return null
  const words = command
    .replace(/["'\\]/g, '')
    .split(/[\s;|&<>()`$={},:]+/)
    .filter((word) => word !== '')
  const names = new Set(words.flatMap((word) => [word, word.replace(/^(?:\.\.\/)+/, '')]))
  const goesTo = (word: string, at: number) =>
    /^(?:cd|pushd|-C|--directory)$/.test(words[at - 1] ?? '') ? [word] : (word.match(/(?<=^-C).+/) ?? [])
  if (words.some(({ length }) => length > limits.toolPathCharsMax)) return null
  const charsOf = (texts: Iterable<string>) => Iterator.from(texts).reduce((sum, { length }) => sum + length, 0)
  const nameChars = charsOf(names)
  const isTooMuch = (folders: readonly string[]) =>
    folders.length * names.size > namesMax || folders.length * nameChars + charsOf(folders) * names.size > namesCharsMax
  let folders: readonly string[] = ['']
  for (const folder of new Set(words.flatMap(goesTo))) {
    if (isTooMuch(folders)) return null
    folders = [...folders, ...folders.map((one) => `${one}${folder}/`)]
  }
  return isTooMuch(folders) ? null : folders.flatMap((folder) => [...names].map((name) => `${folder}${name}`))
}
