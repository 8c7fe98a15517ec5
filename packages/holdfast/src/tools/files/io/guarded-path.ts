import { join } from 'node:path'
import type { OwnPath } from '@holdfast/core/ports'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { foldName } from '../../../system/files/fold-name.ts'
import { findReals, isOwn } from '../../../system/files/own-paths.ts'
import { outsideWorkdir, type WorkspacePath } from '../../../system/files/resolve-path.ts'

/** Directories in which files decide what other programs run. */
const guardedDirectories = new Set([
  ...[
    '.git',
    '.husky',
    '.githooks',
    '.git-hooks',
    '.hooks',
    '.claude',
    '.agents',
    '.cursor',
    '.codex',
    '.gemini',
    '.continue',
    '.ssh',
  ],
  ...['.vscode', '.idea', '.zed', '.devcontainer', '.gnupg', '.direnv', '.circleci', '.yarn', '.buildkite'],
])

/** Files that decide what other programs run. */
const guardedFiles = new Set([
  ...['.mcp.json', '.gitconfig', '.gitmodules', '.gitattributes', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pypirc'],
  ...['.netrc', '.envrc', '.pre-commit-config.yaml', 'lefthook.yml', '.lefthook.yml', '.vimrc', '.exrc', '.nvimrc'],
  ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.zshrc', '.zshenv'],
  ...['.gitlab-ci.yml', '.travis.yml', 'jenkinsfile', 'azure-pipelines.yml', 'azure-pipelines.yaml', '.drone.yml'],
  ...['lefthook.yaml', '.lefthook.yaml', '.mise.toml', 'mise.toml', '.pnpmfile.cjs', '.pnpmfile.mjs'],
  ...['.zprofile', '.zlogin', '.zlogout', '.kshrc', '.inputrc', 'config.fish', '.editrc', '.gdbinit'],
])

/** Files that do so in a folder of this name. The names are folded, as those above. */
const guardedBelow: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['.github', new Set(['workflows', 'actions'])],
  ['.gitea', new Set(['workflows'])],
  ['.forgejo', new Set(['workflows'])],
  ['.cargo', new Set(['config', 'config.toml'])],
])

/** Returns why a change of this file is asked about each time; null if it is not. */
export function findGuard(shown: string): string | null {
  const names = shown.split('/').map(foldName)
  const directory = names.find((name) => guardedDirectories.has(name))
  const isBelow = names.some((name, index) => guardedBelow.get(name)?.has(names[index + 1] ?? ''))
  const isGuarded = directory !== undefined || isBelow || guardedFiles.has(names.at(-1) ?? '')
  return isGuarded ? `${escapeLine(shown)} decides what other programs run` : null
}

/**
 * Refuses what belongs to Holdfast itself: an agent that writes there could approve itself. `ownPaths` may not be read
 * either.
 */
export async function refuseOwn(path: WorkspacePath, ownPaths: readonly OwnPath[] = []): Promise<Result<void>> {
  return (await isOwn(path, ownPaths)) ? refuse(outsideWorkdir(path.shown)) : ok(undefined)
}

/** Folders of `.holdfast` that tools read: the files of skills, and summaries for later sessions. */
const readableFolders = new Set(['skills', 'context'])

/**
 * Refuses to read what belongs to Holdfast itself: `ownPaths`, and `.holdfast` of a workspace except its skills and summaries.
 * It holds hooks, servers and notes that count only once a person trusts them.
 */
export async function refuseOwnReading(
  path: WorkspacePath,
  ownPaths: readonly OwnPath[] = [],
  reals = findReals(ownPaths),
): Promise<Result<void>> {
  if (await isOwn(path, ownPaths, reals)) return refuse(outsideWorkdir(path.shown))
  const names = path.shown.split('/').map(foldName)
  const at = names.indexOf('.holdfast')
  if (at < 0 || readableFolders.has(names[at + 1] ?? '')) return ok(undefined)
  const message = `${escapeLine(path.shown)} belongs to Holdfast itself and is not read. Of .holdfast only skills and context are.`
  return refuse(fault('bad_request', message))
}

/** Returns whether a path of the workdir is in a `.holdfast` folder, however a file system may spell that. */
export const isInHoldfastFolder = (shown: string): boolean =>
  shown.split('/').some((name) => foldName(name) === '.holdfast')

/** Refuses to change `.holdfast`: it holds hooks and permissions. */
export function refuseOwnFolder({ shown }: WorkspacePath): Result<void> {
  if (!isInHoldfastFolder(shown)) return ok(undefined)
  return refuse(fault('bad_request', `${escapeLine(shown)} belongs to Holdfast itself and is not written by tools`))
}

/** Returns the path of a name in a directory that is shown relative to the workdir. */
export const shownIn = (directory: string, name: string): string => (directory === '.' ? name : join(directory, name))
