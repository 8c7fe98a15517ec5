import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { OwnPath } from '@holdfast/core/ports'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { isInside } from '../../system/files/resolve-path.ts'
import type { Environment } from '../../system/home.ts'
import type { ReadRules } from '../define/read-rules.ts'
import { type Program, startProgram } from '../program/program.ts'
import type { SearchPlace } from './search-place.ts'

/** Which files are searched. */
export type Scope = {
  /** Only files that match this glob. */
  readonly glob?: string | undefined
  readonly hidden: boolean
  readonly ignored: boolean
}

export type SearchDeps = {
  readonly environment: Environment
  /** Folders of Holdfast: its data, config and tokens. They are never searched. */
  readonly ownPaths: readonly OwnPath[]
  readonly readRules?: ReadRules | undefined
}

type RipgrepRun = { readonly signal: AbortSignal; readonly timeoutMs: number }

/** Starts ripgrep in a place. It reads no config, follows no links and never enters `.git` or the folders of Holdfast. */
export async function startRipgrep(
  args: readonly string[],
  place: SearchPlace,
  scope: Scope,
  { environment }: Pick<SearchDeps, 'environment'>,
  { signal, timeoutMs }: RipgrepRun,
): Promise<Result<Program>> {
  const { rgPath } = await import('@vscode/ripgrep') // throws if the package of this platform is missing
  const filter = scope.glob === undefined ? null : await openFilter(scope.glob, scope)
  try {
    const flags = [
      '--no-config',
      '--no-require-git',
      '--color=never',
      ...(scope.hidden ? ['--hidden'] : []),
      ...(scope.ignored ? ['--no-ignore'] : []),
      ...['.git', '.holdfast'].flatMap((name) => ['--iglob', `!${name}`]),
      ...ownGlobs(place).flatMap((glob) => ['-g', glob]),
      ...(filter ? ['--ignore-file', filter.path] : []),
    ]
    const kept = Object.entries(environment).filter(([name, value]) => value !== undefined && inherited.test(name))
    const started = await startProgram(rgPath, [...flags, ...args], {
      cwd: place.cwd,
      environment: Object.fromEntries(kept) as Record<string, string>,
      signal,
      timeoutMs,
      file: place.file?.fd,
    })
    if (filter) void started.ended.then(filter.remove)
    return ok(started)
  } catch (error) {
    await filter?.remove()
    throw error
  }
}

/** Ripgrep reads the person's own ignore rules, which these locate. */
const inherited = /^(?:PATH|HOME|XDG_CONFIG_HOME|LANG|LC_ALL|TMPDIR)$/

/** Returns globs that keep the folders of Holdfast out, if they are below the searched folder. */
const ownGlobs = ({ directory, own }: SearchPlace): readonly string[] =>
  own.filter((path) => isInside(directory, path)).map((path) => `!/${escapeGlob(relative(directory, path))}`)

const escapeGlob = (path: string): string => path.replace(/[\\*?[\]{}!]/g, '\\$&')

/**
 * Writes a file of ignore rules that leaves only what matches a glob. Ripgrep's own `-g` would also bring back files that
 * `.gitignore` leaves out; an ignore file cannot.
 */
async function openFilter(glob: string, { hidden }: Scope) {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-search-'))
  const path = join(folder, 'ignore')
  const remove = () => rm(folder, { recursive: true, force: true }).catch(() => undefined)
  try {
    await using file = await open(path, 'wx', 0o600)
    const wanted = glob.replace(/^(?:\.\/)+/, '').replace(/(?<!\/)\/+$/, '/**')
    await file.writeFile(['*', '!*/', `!${wanted}`, ...(hidden ? [] : ['.*']), ''].join('\n'))
    return { path, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Returns the fault for a search that ripgrep refused, in ripgrep's own words. */
export const refusedSearch = (errors: string): Result<never> =>
  refuse(fault('bad_request', `ripgrep refused the search: ${errors.split('\n').map(escapeLine).join('\n')}`))
