import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { ToolContext } from '@holdfast/core/ports'
import { BlobHash, escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { systemErrorCode } from '../../system/system-error.ts'
import { pathArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { leftOutNote, noReadRules, type ReadRules } from '../define/read-rules.ts'
import { diffFlags } from './diff.ts'
import { sliceEntries } from './read-entries.ts'
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

/**
 * Creates `git_stage`. Its preview is the exact change of the index, made in a copy of it. Files that a deny rule covers are
 * left out, because the preview and a commit would show them.
 */
export const createGitStage = (deps: GitDeps & { readonly readRules?: ReadRules | undefined }) =>
  defineTool({
    name: 'git_stage',
    description: 'Stages files for the next commit, as git add does: new, changed and deleted ones.',
    input,
    changes: 'something',

    async preview({ paths }, context, signal) {
      return inRepository(context.workdir, deps, signal, async (repository) => {
        const add = await addOf(repository, paths, deps.readRules, context)
        if (!add.ok) return add
        const foreseen = await foresee(repository, paths, add.value)
        if (!foreseen.ok) return foreseen
        const { diff, contentHash } = foreseen.value
        const path = `git add ${paths.map(escapeLine).join(' ')}`
        return ok({ preview: { type: 'diff', path, diff: `${diff}${noteOf(add.value)}` } as const, contentHash })
      })
    },

    run: whenBegun(async ({ paths }: z.infer<typeof input>, context, { signal, contentHash }) =>
      inRepository(context.workdir, deps, signal, async (repository) => {
        const add = await addOf(repository, paths, deps.readRules, context)
        if (!add.ok) return add
        const foreseen = await foresee(repository, paths, add.value)
        if (!foreseen.ok) return foreseen
        if (contentHash !== undefined && foreseen.value.contentHash !== contentHash) return refuse(changed)
        const { args, names } = add.value
        const added = await repository.git(args, { graceMs: lockGraceMs, ...(names && { input: names }) })
        if (!added.ok) return added
        const text = `staged ${paths.map(escapeLine).join(', ')}\n${foreseen.value.stat}`.trimEnd()
        return ok({ text: `${text}${noteOf(add.value)}` })
      }),
    ),
  })

const changed = fault('content_changed', 'The files changed after this call was prepared; nothing was staged.')

/** A `git add`. */
type Add = {
  readonly args: readonly string[]
  /** The paths to add, if rules deny some of those that were asked for. */
  readonly names: string | null
  /** How many paths are left out. */
  readonly leftOut: number
}

const noteOf = ({ leftOut }: Add): string => (leftOut === 0 ? '' : `\n[${leftOutNote(leftOut)}]`)

/** Returns the command that stages the paths, without those that rules deny. */
async function addOf(
  { git, pathOf }: Repository,
  paths: readonly string[],
  readRules: ReadRules = noReadRules,
  context: Pick<ToolContext, 'workdir' | 'permissions'>,
): Promise<Result<Add>> {
  const asked: string[] = []
  for (const path of paths) {
    const found = await pathOf(path)
    if (!found.ok) return found
    asked.push(found.value)
  }
  const all = { args: ['add', '--', ...asked], names: null, leftOut: 0 }
  const isDenied = await readRules.deniedTest('git_stage', context)
  if (!isDenied.ok) return isDenied
  if (isDenied.value === null) return ok(all)
  const flags = ['--modified', '--deleted', '--others', '--exclude-standard', '--deduplicate']
  const listed = await git(['ls-files', '-z', ...flags, '--', ...asked])
  if (!listed.ok) return listed
  if (listed.value.isCut) return refuse(fault('too_large', 'Too many files have changed there. Stage fewer paths.'))
  const allowed: string[] = []
  let leftOut = 0
  for await (const changedPaths of sliceEntries(listed.value.bytes))
    for (const path of changedPaths) {
      if (await isDenied.value(path)) leftOut++
      else allowed.push(path)
    }
  if (leftOut === 0) return ok(all)
  if (allowed.length === 0)
    return refuse(fault('bad_request', `There is nothing to stage there: ${leftOutNote(leftOut)}.`))
  return ok({ args: ['add', '--pathspec-from-file=-', '--pathspec-file-nul'], names: allowed.join('\0'), leftOut })
}

type Foreseen = { readonly diff: string; readonly stat: string; readonly contentHash: BlobHash }

/** Stages the paths in a copy of the index, with the new objects beside it, and returns what that changes. */
async function foresee(
  { git, workdir }: Repository,
  paths: readonly string[],
  { args, names }: Add,
): Promise<Result<Foreseen>> {
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
    for (const name of ['before', 'after']) await copyIndex(index, join(folder, name))
    const before = await git(['write-tree'], { environment: inCopy('before') })
    if (!before.ok) return before
    const added = await git(args, { environment: inCopy('after'), ...(names && { input: names }) })
    if (!added.ok) return added
    const after = await git(['write-tree'], { environment: inCopy('after') })
    if (!after.ok) return after
    const trees = [before.value.text.trim(), after.value.text.trim()]
    if (trees[0] === trees[1])
      return refuse(fault('bad_request', 'There is nothing to stage there: no file has changed.'))
    const compare = (flags: readonly string[]) =>
      git(['diff', ...diffFlags, ...flags, ...trees, '--'], { environment: inCopy('after'), bytesMax: previewBytesMax })
    const [diff, summary] = await Promise.all([compare([]), compare(['--stat=100', '--stat-count=50'])])
    if (!diff.ok) return diff
    if (!summary.ok) return summary
    const contentHash = BlobHash.parse(
      createHash('sha256')
        .update(JSON.stringify([trees, paths]))
        .digest('hex'),
    )
    return ok({ diff: cutMark(diff.value), stat: summary.value.text.trimEnd(), contentHash })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns a diff with a note if it was cut. */
export const cutMark = ({ text, isCut }: { readonly text: string; readonly isCut: boolean }): string =>
  isCut ? `${text}\n\\ [the rest of the diff is left out]\n` : text

/**
 * Copies the index with its time; a new repository has none. Git compares that time with the times of the files to know
 * which entries it must compare by content: a newer copy hides a change that was made in the second of the last `git add`.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  try {
    const { atime, mtime } = await stat(from)
    await copyFile(from, to)
    await utimes(to, atime, mtime)
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error
  }
}
