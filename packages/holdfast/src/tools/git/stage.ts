import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { BlobHash, escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { systemErrorCode } from '../../system/system-error.ts'
import { pathArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { diffFlags } from './diff.ts'
import { type GitDeps, inRepository, type Repository } from './repository.ts'

const pathsMax = 200
export const previewBytesMax = 1024 * 1024
/** How long git may take to remove its lock files when it is ended. */
export const lockGraceMs = 150

const input = z.strictObject({
  paths: z
    .array(pathArgument, { error: 'must be a list of paths' })
    .min(1, 'must name at least one path')
    .max(pathsMax, `must not have more than ${pathsMax} paths`)
    .describe('The files and directories to stage, relative to the working directory. "." stages everything.'),
})

/** Creates `git_stage`. Its preview is the exact change of the index, made in a copy of it. */
export const createGitStage = (deps: GitDeps) =>
  defineTool({
    name: 'git_stage',
    description: 'Stages files for the next commit, as git add does: new, changed and deleted ones.',
    input,
    changes: 'something',

    async preview({ paths }, { workdir }, signal) {
      return inRepository(workdir, deps, signal, async (repository) => {
        const foreseen = await foresee(repository, paths)
        if (!foreseen.ok) return foreseen
        const { diff, contentHash } = foreseen.value
        const path = `git add ${paths.map(escapeLine).join(' ')}`
        return ok({ preview: { type: 'diff', path, diff } as const, contentHash })
      })
    },

    run: whenBegun(async ({ paths }: z.infer<typeof input>, { workdir }, { signal, contentHash }) =>
      inRepository(workdir, deps, signal, async (repository) => {
        const foreseen = await foresee(repository, paths)
        if (!foreseen.ok) return foreseen
        if (contentHash !== undefined && foreseen.value.contentHash !== contentHash) return refuse(changed)
        const args = await argsOf(repository, paths)
        if (!args.ok) return args
        const added = await repository.git(args.value, { graceMs: lockGraceMs })
        return added.ok
          ? ok({ text: `staged ${paths.map(escapeLine).join(', ')}\n${foreseen.value.stat}`.trimEnd() })
          : added
      }),
    ),
  })

const changed = fault('content_changed', 'The files changed after this call was prepared; nothing was staged.')

async function argsOf({ pathOf }: Repository, paths: readonly string[]): Promise<Result<readonly string[]>> {
  const args = ['add', '--']
  for (const path of paths) {
    const asked = await pathOf(path)
    if (!asked.ok) return asked
    args.push(asked.value)
  }
  return ok(args)
}

type Foreseen = { readonly diff: string; readonly stat: string; readonly contentHash: BlobHash }

/** Stages the paths in a copy of the index, with the new objects beside it, and returns what that changes. */
async function foresee(repository: Repository, paths: readonly string[]): Promise<Result<Foreseen>> {
  const { git, workdir } = repository
  const args = await argsOf(repository, paths)
  if (!args.ok) return args
  const places = await git(['rev-parse', '--git-path', 'index', '--git-path', 'objects'])
  if (!places.ok) return places
  const [index = '', objects = ''] = places.value.text.split('\n').map((path) => resolve(workdir, path))
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-stage-'))
  try {
    const inCopy = (name: string) => ({
      GIT_INDEX_FILE: join(folder, name),
      GIT_OBJECT_DIRECTORY: join(folder, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    })
    await mkdir(join(folder, 'objects'))
    for (const name of ['before', 'after']) await copyIfThere(index, join(folder, name))
    const before = await git(['write-tree'], { environment: inCopy('before') })
    if (!before.ok) return before
    const added = await git(args.value, { environment: inCopy('after') })
    if (!added.ok) return added
    const after = await git(['write-tree'], { environment: inCopy('after') })
    if (!after.ok) return after
    const trees = [before.value.text.trim(), after.value.text.trim()]
    if (trees[0] === trees[1])
      return refuse(fault('bad_request', 'There is nothing to stage there: no file has changed.'))
    const compare = (flags: readonly string[]) =>
      git(['diff', ...diffFlags, ...flags, ...trees, '--'], { environment: inCopy('after'), bytesMax: previewBytesMax })
    const [diff, stat] = await Promise.all([compare([]), compare(['--stat=100', '--stat-count=50'])])
    if (!diff.ok) return diff
    if (!stat.ok) return stat
    const contentHash = BlobHash.parse(
      createHash('sha256')
        .update(JSON.stringify([trees, paths]))
        .digest('hex'),
    )
    return ok({ diff: cutMark(diff.value), stat: stat.value.text.trimEnd(), contentHash })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns a diff with a note if it was cut. */
export const cutMark = ({ text, isCut }: { readonly text: string; readonly isCut: boolean }): string =>
  isCut ? `${text}\n\\ [the rest of the diff is left out]\n` : text

/** A new repository has no index. */
const copyIfThere = (from: string, to: string) =>
  copyFile(from, to).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'ENOENT') throw error
  })
