import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { BlobHash, clip, escapeHidden, escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { diffFlags } from './diff.ts'
import { type GitDeps, inRepository, type Repository } from './repository.ts'
import { cutMark, lockGraceMs, previewBytesMax } from './stage.ts'

const messageCharsMax = 20_000
/** Hooks run tests and formatters. */
const timeoutMs = 300_000
const commitHooks = [
  ...['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit', 'pre-auto-gc'],
  ...['post-index-change', 'reference-transaction', 'pre-merge-commit', 'post-rewrite'],
]

const input = z.strictObject({
  message: textArgument
    .refine((text) => text.trim() !== '', 'must not be empty')
    .refine((text) => !text.includes('\0'), 'must not hold a NUL character')
    .max(messageCharsMax, `must not be longer than ${messageCharsMax} characters`)
    .describe('The commit message: a subject of at most 72 characters, then an empty line and the rest.'),
})

type CommitDeps = GitDeps & {
  /** Returns whether shell commands are confined. Hooks are not: they need what git needs. */
  readonly sandbox?: Sandbox['state'] | undefined
}

/** Creates `git_commit`. The hooks of the repository run, as the preview says. */
export const createGitCommit = (deps: CommitDeps) =>
  defineTool({
    name: 'git_commit',
    description: 'Commits what is staged. Stage files with git_stage first. The hooks of the repository run.',
    input,
    changes: 'something',

    async preview({ message }, { workdir }, signal) {
      return inRepository(workdir, deps, signal, async (repository) => {
        const foreseen = await foresee(repository)
        if (!foreseen.ok) return foreseen
        const { hooks, branch, contentHash } = foreseen.value
        const isConfined = (await deps.sandbox?.(workdir))?.isInForce === true
        const staged = await repository.git(
          ['diff', ...diffFlags, '--no-relative', '--cached', '--stat=100', '--stat-count=50', '--patch'],
          { bytesMax: previewBytesMax },
        )
        if (!staged.ok) return staged
        const head = [
          `  commit on ${escapeLine(branch)}`,
          ...message.split('\n').map((line) => `      ${escapeHidden(line)}`),
          `  ${describeHooks(hooks, isConfined)}`,
        ]
        const diff = `${head.join('\n')}\n\n${cutMark(staged.value)}`
        const preview = { type: 'diff', path: 'git commit', diff } as const
        return ok({ preview, contentHash, ...(hooks.length > 0 && isConfined && { alwaysAsk: unconfinedHooks }) })
      })
    },

    run: whenBegun(async ({ message }: z.infer<typeof input>, { workdir }, { signal, contentHash, show }) => {
      const commit = async (repository: Repository) => {
        const foreseen = await foresee(repository)
        if (!foreseen.ok) return foreseen
        if (contentHash !== undefined && foreseen.value.contentHash !== contentHash) return refuse(changed)
        const runsHooks = foreseen.value.hooks.length > 0
        const committed = await repository.git(['commit', '--quiet', '--file=-'], {
          // A hook that was not there when the person was asked must not run.
          input: message,
          runsHooks,
          isRecorded: runsHooks,
          timeoutMs,
          graceMs: lockGraceMs,
          onErrors: (chunk) => show(String(chunk)),
        })
        if (!committed.ok) return committed
        const made = await repository.git(['log', '-1', '--no-show-signature', '--format=%h %s', '--shortstat'])
        return made.ok ? ok({ text: `committed ${made.value.text.replaceAll(/\n+/g, '\n').trim()}` }) : made
      }
      return inRepository(workdir, deps, signal, commit, { commits: true })
    }),
  })

const unconfinedHooks = 'hooks of the repository run outside the sandbox'

function describeHooks(hooks: readonly Hook[], isConfined: boolean): string {
  if (hooks.length === 0) return 'No hooks run.'
  const where = isConfined ? ' outside the sandbox' : ''
  return `These hooks run${where}, programs of this repository that can do what you can: ${hooks.map(({ name }) => name).join(', ')}.`
}

const changed = fault('content_changed', 'What is staged changed after this call was prepared; nothing was committed.')
const nothingStaged = fault('bad_request', 'Nothing is staged. Stage files with git_stage first.')

type Hook = { readonly name: string; readonly hash: string }
type Foreseen = { readonly hooks: readonly Hook[]; readonly branch: string; readonly contentHash: BlobHash }

/** Returns what a commit would contain and run. Refuses it if nothing is staged. */
async function foresee(repository: Repository): Promise<Result<Foreseen>> {
  const rawFlags = ['--raw', '-z', '--no-abbrev', '--no-renames', '--no-ext-diff', '--ignore-submodules=dirty']
  const asked = await readAll(repository, [
    ['diff', '--cached', ...rawFlags],
    ['rev-parse', '--quiet', '--verify', 'MERGE_HEAD'],
    ['symbolic-ref', '--quiet', '--short', 'HEAD'],
    ['rev-parse', '--quiet', '--verify', 'HEAD'],
  ])
  if (!asked.ok) return asked
  const [staged = '', merge = '', branch = ''] = asked.value
  if (staged === '' && merge === '') return refuse(nothingStaged)
  const hooks = await findHooks(repository)
  if (!hooks.ok) return hooks
  const hash = createHash('sha256').update(JSON.stringify([asked.value, hooks.value]))
  return ok({
    hooks: hooks.value,
    branch: branch === '' ? 'no branch' : `branch ${clip(branch.trim(), 200)}`,
    contentHash: BlobHash.parse(hash.digest('hex')),
  })
}

/** Runs several commands at once; those that look for something may find nothing. */
async function readAll(
  { git }: Repository,
  commands: readonly (readonly string[])[],
): Promise<Result<readonly string[]>> {
  const answers = await Promise.all(commands.map((args) => git(args, { codes: [0, 1] })))
  const texts: string[] = []
  for (const answer of answers) {
    if (!answer.ok) return answer
    texts.push(answer.value.text)
  }
  return ok(texts)
}

/** Finds the hooks that a commit runs, in the folder that git uses for them. */
async function findHooks({ git, workdir }: Repository): Promise<Result<readonly Hook[]>> {
  const found = await git(['rev-parse', '--git-path', 'hooks'], { runsHooks: true })
  if (!found.ok) return found
  const folder = resolve(workdir, found.value.text.replace(/\n$/, ''))
  const hooks = commitHooks.map(async (name): Promise<readonly Hook[]> => {
    const path = join(folder, name)
    const isRunnable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (!isRunnable) return []
    const content = await readFile(path).catch(() => '')
    return [{ name, hash: createHash('sha256').update(content).digest('hex') }]
  })
  return ok((await Promise.all(hooks)).flat())
}
