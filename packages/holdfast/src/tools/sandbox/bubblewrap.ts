import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { isInside } from '../../system/files/resolve-path.ts'
import type { HiddenPath } from './hidden-paths.ts'
import type { ExpectedMount } from './mount-check.ts'

/** What a command may reach in the sandbox. All paths are real: without links. */
export type Confines = {
  /** May be written, with all that is in it. */
  readonly workdir: string
  /** Is `/tmp` for the command. Null: an empty one, for this command alone. */
  readonly tmp: string | null
  readonly network: boolean
  readonly hidden: readonly HiddenPath[]
  /** Paths in the workdir that the command may neither change nor replace. */
  readonly readOnly: readonly string[]
  /** Directories in the workdir that do not exist and must stay empty. */
  readonly keptEmpty: readonly string[]
  /** Data of the workdir that is outside of it. */
  readonly outside: OutsideData | null
}

/** A directory outside the workdir that the command can read, with what it may write there, and what not in that. */
export type OutsideData = {
  readonly directory: string
  readonly writable: readonly string[]
  readonly readOnly: readonly string[]
}

/** Directories that the command gets new: a path below them is not the one of this machine. */
const newDirectories = ['/tmp', '/var/tmp', '/run', '/var/run', '/dev', '/proc']

/** Root changes the settings of the machine here, also without capabilities: a namespace of processes shares them. */
const machineSettings = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus']

/** Namespaces and rights, the same for every command. It gets no capability and, as bubblewrap always does, no new privileges. */
const rights = [
  ...['--die-with-parent', '--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
  ...['--unshare-cgroup-try', '--cap-drop', 'ALL'],
]

/** Arguments for a trial: the rights and mounts of a command, for a program that does nothing. */
export const trialArguments: readonly string[] = [
  ...rights,
  ...['--unshare-net', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run', '--', '/bin/true'],
]

/**
 * Returns the arguments of bubblewrap up to the program. Later mounts cover earlier ones: first the machine, then the
 * workdir, then what is read-only in it, and last what is hidden, so that nothing covers that again.
 */
export function bubblewrapArguments(confines: Confines): readonly string[] {
  const { workdir, tmp, network } = confines
  const isAround = ({ path }: HiddenPath) => isInside(path, workdir)
  return [
    ...rights,
    ...(network ? [] : ['--unshare-net']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run'],
    ...machineSettings.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', path, path]),
    ...(isDirectory('/var/run') ? ['--tmpfs', '/var/run'] : []),
    ...(network ? nameService() : []),
    ...(tmp === null ? ['--tmpfs', '/tmp'] : ['--bind', tmp, '/tmp']),
    ...(isDirectory('/var/tmp') ? ['--tmpfs', '/var/tmp'] : []),
    // A hidden directory with the workdir in it can be passed through, but not listed.
    ...confines.hidden.filter(isAround).flatMap(({ path }) => ['--perms', '0111', '--tmpfs', path]),
    ...outsideMounts(confines.outside),
    ...['--bind', workdir, workdir],
    ...keptMounts(confines).flatMap(argumentsOf),
    ...hiddenMounts(confines).flatMap(argumentsOf),
    ...['--unsetenv', 'SSH_AUTH_SOCK', '--setenv', 'TMPDIR', '/tmp'],
    // Caches in the home directory are read-only, and npm fails without one.
    ...['--setenv', 'XDG_CACHE_HOME', '/tmp/.cache', '--setenv', 'npm_config_cache', '/tmp/.npm'],
    ...(network ? [] : ['--setenv', 'npm_config_fetch_retries', '0']), // without a network it waits for 20 seconds
    ...['--chdir', workdir, '--'],
  ]
}

/** Returns the mounts that another command could redirect, because it can write the folders they are in. */
export function expectedMounts(confines: Confines): readonly ExpectedMount[] {
  const inWorkdir = [...keptMounts(confines), ...hiddenMounts(confines)].filter(({ path }) =>
    isInside(confines.workdir, path),
  )
  const { writable = [], readOnly = [] } = confines.outside ?? {}
  return [
    { path: confines.workdir, access: 'rw', shows: 'itself' },
    ...writable.map((path) => ({ path, access: 'rw', shows: 'itself' }) as const),
    ...readOnly.map((path) => ({ path, access: 'ro', shows: 'itself' }) as const),
    ...inWorkdir,
  ]
}

type Mount = ExpectedMount & { readonly how: 'bind' | 'empty' | 'locked' | 'nothing' }

function argumentsOf({ path, access, how }: Mount): readonly string[] {
  switch (how) {
    case 'bind':
      return [access === 'ro' ? '--ro-bind' : '--bind', path, path]
    case 'empty':
      return ['--tmpfs', path, '--remount-ro', path]
    case 'locked':
      return ['--perms', '0000', '--tmpfs', path]
    case 'nothing':
      return ['--ro-bind', '/dev/null', path]
  }
}

/**
 * Mounts the read-only paths. A file alone would not do: its directory could be renamed and replaced by a new one. So each
 * directory between it and the workdir is mounted on itself, which the kernel does not rename.
 */
function keptMounts({ workdir, readOnly, keptEmpty, hidden }: Confines): readonly Mount[] {
  const kept = new Set([...readOnly, ...keptEmpty])
  const directories = new Set<string>()
  const concealed = hidden.flatMap(({ path }) => (path !== workdir && isInside(workdir, path) ? [path] : []))
  for (const path of [...kept, ...concealed])
    for (let at = dirname(path); at !== workdir && isInside(workdir, at); at = dirname(at)) directories.add(at)
  const isCovered = (path: string) => [...kept].some((one) => one !== path && isInside(one, path))
  const outermostFirst = [...directories]
    // One that is hidden itself, or lies in a hidden one, shows something else.
    .filter((path) => !kept.has(path) && !isCovered(path) && !concealed.some((one) => isInside(one, path)))
    .toSorted((one, other) => one.length - other.length)
  return [
    ...outermostFirst.map((path) => ({ path, access: 'rw', shows: 'itself', how: 'bind' }) as const),
    ...readOnly
      .filter((path) => !isCovered(path))
      .map((path) => ({ path, access: 'ro', shows: 'itself', how: 'bind' }) as const),
    ...keptEmpty
      .filter((path) => !isCovered(path))
      .map((path) => ({ path, access: 'ro', shows: 'cover', how: 'empty' }) as const),
  ]
}

function outsideMounts(outside: OutsideData | null): readonly string[] {
  if (outside === null) return []
  const { directory, writable, readOnly } = outside
  return [
    ...['--ro-bind', directory, directory],
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...readOnly.flatMap((path) => ['--ro-bind', path, path]),
  ]
}

function hiddenMounts({ workdir, hidden }: Confines): readonly Mount[] {
  const isHere = (path: string) =>
    isInside(workdir, path) || !newDirectories.some((directory) => isInside(directory, path))
  // A hidden directory around the workdir hides its other entries too.
  const around = hidden.filter(({ path }) => path !== workdir && isInside(path, workdir))
  const isHiddenAlready = (path: string) => !isInside(workdir, path) && around.some((one) => isInside(one.path, path))
  const mounted = hidden.filter(({ path }) => isHere(path) && !isInside(path, workdir) && !isHiddenAlready(path))
  const isOutermost = ({ path }: HiddenPath) =>
    !mounted.some((other) => other.path !== path && isInside(other.path, path))
  return mounted.filter(isOutermost).map(({ path, isDirectory: isFolder }): Mount => {
    const cover = { path, shows: 'cover' } as const
    return isFolder ? { ...cover, access: 'rw', how: 'locked' } : { ...cover, access: 'ro', how: 'nothing' }
  })
}

/** The file with the name servers is often a link into `/run`, which is empty for the command. */
function nameService(): readonly string[] {
  try {
    const path = realpathSync('/etc/resolv.conf')
    return isInside('/run', path) ? ['--ro-bind', path, path] : []
  } catch {
    return [] // no such file: names are resolved another way
  }
}

const isDirectory = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
