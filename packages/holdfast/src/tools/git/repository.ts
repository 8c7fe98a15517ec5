import { mkdir, realpath } from 'node:fs/promises'
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { readGitFile } from '../../system/files/git-config.ts'
import { isInside, outsideWorkdir, resolvePath, resolveWorkdir } from '../../system/files/resolve-path.ts'
import type { Environment } from '../../system/home.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import type { ProcessRecords } from '../program/process-records.ts'
import { type Program, type ProgramOptions, startProgram } from '../program/program.ts'
import { commandEnvironment } from '../shell/environment.ts'
import { formatSettings, ownSettings, pinConfig, settingsMax } from './pinned-config.ts'
import { findPlainRepository, type PlainRepository } from './plain-repository.ts'
import { programSettings } from './program-settings.ts'

export type GitDeps = {
  readonly environment: Environment
  readonly keyNames?: readonly string[] | undefined
  /** Where process groups that run hooks are on record. */
  readonly records?: ProcessRecords | null | undefined
}

/** The output of a git command that worked. */
export type GitAnswer = { readonly text: string; readonly bytes: Buffer; readonly isCut: boolean }

type GitOptions = Partial<Pick<ProgramOptions, 'timeoutMs' | 'graceMs' | 'input' | 'onErrors'>> & {
  /** Added to the environment. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** Lets the hooks of the repository run. */
  readonly runsHooks?: boolean | undefined
  /** Puts the process group on record while it runs: a hook may start anything. */
  readonly isRecorded?: boolean | undefined
  /** Exit codes that mean success; only 0 by default. */
  readonly codes?: readonly number[] | undefined
  /** How much output is read; then git is ended. */
  readonly bytesMax?: number | undefined
}

/** A repository, opened for the tools. Its own configuration cannot make git run a program. */
export interface Repository {
  readonly workdir: string
  /** The path of the workdir in the repository: '' or one that ends with '/'. */
  readonly prefix: string
  /** Runs a git command and returns its output. A failure is a fault with git's own words. */
  git(args: readonly string[], options?: GitOptions): Promise<Result<GitAnswer>>
  /** Starts a git command whose output is read as it comes. */
  start(args: readonly string[], options?: GitOptions): Promise<Program>
  /** Returns a path as an argument for git. Refuses paths outside the workdir. */
  pathOf(path: string): Promise<Result<string>>
}

const readTimeoutMs = 30_000
const outputBytesMax = 8 * 1024 * 1024

/**
 * A repository's own configuration may name programs: these settings win over it. Hooks run only where a person has
 * approved a commit.
 */
const safeSettings = {
  'core.fsmonitor': 'false',
  'core.pager': 'cat',
  'core.quotePath': 'false',
  'core.sshCommand': 'false',
  'color.ui': 'false',
  'safe.bareRepository': 'explicit',
  'submodule.recurse': 'false',
  // Else git runs itself in a submodule, with the configuration there.
  'diff.submodule': 'short',
  'status.submoduleSummary': 'false',
  'log.showSignature': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
}
const noHooks = '/dev/null'

/**
 * Opens the repository of a workdir while `use` runs. Refuses it if its own configuration defines programs that cannot be
 * switched off. Git then uses the settings that were checked, whatever other programs write into the configuration.
 */
export async function inRepository<Value>(
  workdir: string,
  deps: GitDeps,
  signal: AbortSignal,
  use: (repository: Repository) => Promise<Result<Value>>,
  { commits = false }: { readonly commits?: boolean } = {},
): Promise<Result<Value>> {
  const cwd = await resolveWorkdir(workdir)
  if (!cwd.ok) return cwd
  const plain = await findPlainRepository(cwd.value)
  const found = plain ? ok({ ...plain, common: plain.directory }) : await askGit(cwd.value, deps, signal)
  if (!found.ok) return found
  const { top, prefix, directory, common, config } = found.value
  if (commits) await mkdir(join(common, 'logs'), { recursive: true }) // a new repository has none, and git would make it in the pinned folder
  const pinning = await pinConfig(common, config, signal)
  if (!pinning.ok) return pinning
  await using pinnedConfig = pinning.value
  const pinned = { GIT_DIR: directory, GIT_WORK_TREE: top, GIT_COMMON_DIR: pinnedConfig.directory }
  return await use(createRepository({ workdir: cwd.value, prefix, pinned }, deps, signal)) // awaited: then the folder goes
}

/** Finds a repository and its settings with git itself. */
async function askGit(
  workdir: string,
  deps: GitDeps,
  signal: AbortSignal,
): Promise<Result<PlainRepository & { readonly common: string }>> {
  const { git } = createRepository({ workdir, prefix: '', pinned: {} }, deps, signal)
  const asked = ['--show-toplevel', '--show-prefix', '--absolute-git-dir', '--git-common-dir']
  const [found, listed] = await Promise.all([
    git(['rev-parse', ...asked]),
    git(['config', '--list', '-z', '--show-scope']),
  ])
  if (!found.ok) return found
  if (!listed.ok) return listed
  const [top = '', prefix = '', directory = '', shared = ''] = found.value.text.split('\n')
  if (!isInside(top, workdir)) return refuse(outsideWorkdir(top)) // core.worktree may name any folder
  const settings = listed.value.isCut ? null : ownSettings(listed.value.text)
  if (settings === null) return refuse(tooManySettings)
  const program = settings.find(({ name }) => programSettings.test(name))
  if (program !== undefined) return refuse(namesProgram(program.name))
  const common = resolve(workdir, shared)
  const worktree = settings.findLast(({ name }) => name === 'core.worktree')?.value ?? null
  const folders = { directory, common, worktree }
  if (!(await belongsTo(top, folders)))
    return refuse(isSeparate(folders) ? namesNoTree(top, directory) : belongsElsewhere(directory))
  return ok({ top, prefix, directory, common, config: formatSettings(settings) })
}

type GitFolders = {
  readonly directory: string
  readonly common: string
  /** What the repository names as its work tree. */
  readonly worktree: string | null
}

/**
 * Whether a repository belongs to a work tree: it is in it, or names it, as it does a linked work tree and a submodule. A file
 * or link `.git` alone proves nothing: an agent can write one that leads to any repository, and read what is in there.
 */
async function belongsTo(top: string, { directory, common, worktree }: GitFolders): Promise<boolean> {
  try {
    const [tree, own, shared] = await Promise.all([top, directory, common].map((path) => realpath(path)))
    if (tree === undefined || own === undefined || shared === undefined) return false
    if (isInside(tree, own) && isInside(tree, shared)) return true
    if (own === shared) return worktree !== null && (await realpath(resolve(own, worktree))) === tree
    if (dirname(own) !== join(shared, 'worktrees')) return false
    const back = (await readGitFile(join(own, 'gitdir'))).trimEnd()
    return (await realpath(dirname(resolve(own, back)))) === tree
  } catch {
    return false // one of them is not there
  }
}

/**
 * Whether a folder of git is not in a work tree and names none. `git init --separate-git-dir` makes it so: nothing in it tells
 * the `.git` that it was made with from one that an agent wrote, so a person has to say whose it is.
 */
const isSeparate = ({ directory, common, worktree }: GitFolders): boolean =>
  worktree === null && resolve(directory) === resolve(common) && basename(directory) !== '.git'

const namesNoTree = (top: string, directory: string) =>
  fault(
    'untrusted_workspace',
    `.git leads to ${escapeLine(directory)}, a repository that names no work tree, as after git init --separate-git-dir: it may belong to another folder. If it belongs to ${escapeLine(top)}, let a person run git config core.worktree "$PWD" there, once. Or use git with the shell tool, which asks first.`,
  )

const belongsElsewhere = (directory: string) =>
  fault(
    'untrusted_workspace',
    `.git leads to ${escapeLine(directory)}, a repository that does not name this folder as its work tree. If you trust it, use git with the shell tool, which asks first.`,
  )

const tooManySettings = fault(
  'too_large',
  `The configuration of this repository has more than ${settingsMax} settings. Remove what it does not need, or use git with the shell tool.`,
)

const namesProgram = (setting: string) =>
  fault(
    'untrusted_workspace',
    `The repository's own configuration sets ${escapeLine(setting)}, a program that git would run. If you trust it, use git with the shell tool, which asks first.`,
    { setting },
  )

type Opened = Pick<Repository, 'workdir' | 'prefix'> & {
  /** Says where the repository is; empty before that is known. */
  readonly pinned: Readonly<Record<string, string>>
}

function createRepository({ workdir, prefix, pinned }: Opened, deps: GitDeps, signal: AbortSignal): Repository {
  const base = { ...gitEnvironment(workdir, deps), ...pinned }

  async function start(args: readonly string[], options: GitOptions = {}): Promise<Program> {
    const { environment, runsHooks, isRecorded, timeoutMs = readTimeoutMs, graceMs, input, onErrors } = options
    const settings = { ...safeSettings, ...(!runsHooks && { 'core.hooksPath': noHooks }) }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    return startProgram('git', ['--no-pager', '--no-optional-locks', '--literal-pathspecs', ...flags, ...args], {
      cwd: workdir,
      environment: { ...base, ...environment },
      signal,
      timeoutMs,
      graceMs,
      input,
      onErrors,
      records: isRecorded ? deps.records : null,
    })
  }

  async function git(args: readonly string[], options: GitOptions = {}): Promise<Result<GitAnswer>> {
    const { codes = [0], bytesMax = outputBytesMax, timeoutMs = readTimeoutMs } = options
    const started = await start(args, options).then(ok, notInstalled)
    if (!started.ok) return started
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of started.value.output) {
      chunks.push(chunk.subarray(0, bytesMax - bytes))
      bytes += chunk.length
      if (bytes > bytesMax) break
    }
    const isCut = bytes > bytesMax
    if (isCut) started.value.stop()
    const ended = await started.value.ended
    if (ended.type === 'aborted') return refuse(fault('bad_request', 'aborted'))
    if (ended.type === 'timed out') return refuse(fault('too_large', `git took more than ${timeoutMs / 1000} seconds`))
    if (!isCut && !codes.includes(ended.code ?? -1)) return refuse(gitFault(ended.errors, workdir))
    const printed = Buffer.concat(chunks)
    return ok({ text: printed.toString('utf8'), bytes: printed, isCut })
  }

  async function pathOf(path: string): Promise<Result<string>> {
    const resolved = await resolvePath(workdir, path)
    if (!resolved.ok) return resolved
    // A link is tracked itself, so the path keeps its name and not that of its target.
    const lexical = relative(workdir, resolve(workdir, path)) || '.'
    return isInside(workdir, resolve(workdir, lexical)) ? ok(lexical) : refuse(outsideWorkdir(path))
  }
  return { workdir, prefix, git, start, pathOf }
}

function notInstalled(error: unknown): Result<never> {
  if (systemErrorCode(error) !== 'ENOENT') throw error
  return refuse(fault('not_found', 'git is not installed, or not in PATH.'))
}

/** Returns the fault for a git command that failed, in words that say what to do where git's do not. */
export function gitFault(errors: string, workdir: string) {
  const words = errors
    .split('\n')
    .map((line) => escapeLine(line.replace(/^(?:fatal|error): /, '')))
    .join('\n')
  if (/not a git repository/i.test(errors))
    return fault('not_found', `${escapeLine(workdir)} is not in a git repository. Use the shell tool for git init.`)
  return fault('bad_request', words === '' ? 'git failed without a message' : `git refused: ${words}`)
}

/** Variables of git that say who commits; all others could change what git does. */
const keptGitNames = /^GIT_(?:AUTHOR|COMMITTER)_/

/** Returns the environment for git: without credentials, and without a program that waits for a person. */
function gitEnvironment(workdir: string, { environment, keyNames }: GitDeps): Record<string, string> {
  const inherited = Object.entries(commandEnvironment(environment, { keyNames })).filter(
    ([name]) => !name.startsWith('GIT_') || keptGitNames.test(name),
  )
  // A program called git in the workdir must not be the one that runs.
  const isSafe = (folder: string) => isAbsolute(folder) && !isInside(workdir, folder)
  const path = (environment['PATH'] ?? '').split(delimiter).filter(isSafe).join(delimiter)
  return {
    ...Object.fromEntries(inherited),
    PATH: path,
    LC_ALL: 'C.UTF-8',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    GIT_OPTIONAL_LOCKS: '0',
    // Objects that a partial clone lacks are not fetched: that would run the programs of a remote.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  }
}
