import { realpathSync, type Stats, statSync } from 'node:fs'
import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { escapeLine, type Fault, fault, ok, parseAbsoluteFolder, type Result, refuse } from '@holdfast/protocol'
import { systemErrorCode, systemErrorWords } from '../system-error.ts'

/** Returns the real path of a directory, with links resolved. It identifies the session's workspace. */
export async function resolveWorkdir(path: string): Promise<Result<string>> {
  const asked = resolve(path)
  try {
    const [real, found] = await Promise.all([realpath(asked), stat(asked)]) // every tool call waits for this
    return toWorkdir(asked, real, found)
  } catch (error) {
    return refuseWorkdir(asked, error)
  }
}

/** Does the same for a folder that a client gave, which must be absolute. Refused: bad_workdir. */
export async function resolveGivenFolder(given: unknown): Promise<Result<string>> {
  const folder = parseAbsoluteFolder(given)
  return folder.ok ? resolveWorkdir(folder.value) : folder
}

/** Does the same as `resolveWorkdir` without waiting, for a thread that has nothing else to do. */
export function resolveWorkdirSync(path: string): Result<string> {
  const asked = resolve(path)
  try {
    return toWorkdir(asked, realpathSync.native(asked), statSync(asked))
  } catch (error) {
    return refuseWorkdir(asked, error)
  }
}

const unusable = (asked: string, why: string, more = {}): Result<never> =>
  refuse(fault('bad_workdir', `The folder ${escapeLine(asked)} ${why}.`, { workdir: asked, ...more }))

const toWorkdir = (asked: string, real: string, found: Stats): Result<string> =>
  found.isDirectory() ? ok(real) : unusable(asked, 'is not a directory')

function refuseWorkdir(asked: string, error: unknown): Result<never> {
  const code = systemErrorCode(error)
  if (code === null) return unusable(asked, 'is no path') // a path with a NUL never reaches the system
  if (code === 'ENOENT') return unusable(asked, 'does not exist', { reason: 'missing' })
  return unusable(asked, `cannot be used: ${systemErrorWords(error)}`)
}

const linksMax = 40

/** A path inside the workdir, with all links resolved. */
export type WorkspacePath = {
  /** The workdir itself, its own links resolved. */
  readonly root: string
  readonly absolute: string
  /** Relative to the root, for people and the log; the root is `.`. */
  readonly shown: string
  /** The names at the end that do not exist yet. */
  readonly missing: readonly string[]
  /** The links that it leads through, as absolute paths. */
  readonly links: readonly string[]
  /** What was found at its end. Absent: the workdir itself, a path that ends with `..`, or nothing. */
  readonly stats?: Stats | undefined
}

/** Whether a path is a folder or something in it. Links are not resolved. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path) // by components, so /work-evil is not inside /work
  return way === '' || !(way === '..' || way.startsWith('../') || isAbsolute(way))
}

export const outsideWorkdir = (path: string): Fault =>
  fault('outside_workdir', `${escapeLine(path)} is outside the working directory`)

type ResolveOptions = {
  /** False: a link at the end of the path is the thing meant, not its target. */
  readonly followsLast?: boolean | undefined
}

/**
 * Resolves `path` one component at a time, following links. Refuses it unless it ends inside the workdir. The result may
 * change before it is used: open it with `openDirectory`, which checks again.
 */
export async function resolvePath(
  workdir: string,
  path: string,
  { followsLast = true }: ResolveOptions = {},
): Promise<Result<WorkspacePath>> {
  // The system's calls throw on it, before any of them runs.
  if (path.includes('\0')) return refuse(fault('bad_request', `${escapeLine(path)} holds a NUL character`))
  const ahead = lookAhead(resolve(workdir), path)
  const root = await resolveWorkdir(workdir)
  if (!root.ok) return root
  const walked = await walk(root.value, path, followsLast, (at) => ahead.get(at) ?? lstat(at))
  if (!walked.ok) return walked
  const { reached, missing, links, stats } = walked.value
  const absolute = join(reached, missing.join('/')) // one argument: they may be more than a call can have
  if (!isInside(root.value, absolute)) return refuse(outsideWorkdir(path))
  return ok({ root: root.value, absolute, shown: relative(root.value, absolute) || '.', missing, links, stats })
}

/** More components are looked at when they are reached. */
const aheadMax = 16

/** Begins to look at each component, as if nothing were a link: one after the other, each takes a step of the disk. */
function lookAhead(workdir: string, path: string): ReadonlyMap<string, Promise<Stats>> {
  const looks = new Map<string, Promise<Stats>>()
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (isAbsolute(path) || names.length > aheadMax || names.includes('..')) return looks
  let at = workdir
  for (const name of names) {
    at = join(at, name)
    const look = lstat(at)
    look.catch(() => undefined) // the walk reports it, if it gets there
    looks.set(at, look)
  }
  return looks
}

type Walked = Pick<WorkspacePath, 'missing' | 'links' | 'stats'> & { readonly reached: string }

async function walk(
  root: string,
  path: string,
  followsLast: boolean,
  look: (path: string) => Promise<Stats>,
): Promise<Result<Walked>> {
  const pending = path.split('/').reverse()
  let current = isAbsolute(path) ? '/' : root
  let stats: Stats | undefined
  const links: string[] = []
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      current = dirname(current)
      stats = undefined
      continue
    }
    const next = join(current, name)
    try {
      const found = await look(next)
      const isLast = pending.length === 0
      if (!found.isSymbolicLink() || (isLast && !followsLast)) {
        current = next
        stats = found
        continue
      }
      links.push(next)
      if (links.length > linksMax)
        return refuse(fault('outside_workdir', `${escapeLine(path)} goes through links without end`))
      const target = await readlink(next)
      if (isAbsolute(target)) current = '/'
      stats = undefined
      pending.push(...target.split('/').reverse())
    } catch (error) {
      const code = systemErrorCode(error)
      if (code === null) throw error
      if (!isInside(root, next)) return refuse(outsideWorkdir(path)) // reveal nothing about paths outside, not even whether they exist
      if (code === 'ENOENT') return absent(path, current, [name, ...pending.reverse()], links)
      return refuse(fault('bad_request', `${escapeLine(path)}: ${systemErrorWords(error)}`))
    }
  }
  return ok({ reached: current, missing: [], links, stats })
}

function absent(path: string, reached: string, names: readonly string[], links: readonly string[]): Result<Walked> {
  const missing = names.filter((name) => name !== '' && name !== '.')
  // `..` out of a directory that does not exist has no meaning; resolved lexically it could escape.
  if (missing.includes('..'))
    return refuse(fault('not_found', `${escapeLine(path)} does not exist: a parent directory is missing`))
  return ok({ reached, missing, links })
}
