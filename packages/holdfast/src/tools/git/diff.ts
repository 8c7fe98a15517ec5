import type { ToolResult, ToolRun } from '@holdfast/core/ports'
import { fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { pathArgument } from '../define/arguments.ts'
import { abortedResult, begun, defineTool, failedWith, foreseen } from '../define/define-tool.ts'
import { type DeniedTest, leftOutNote, noReadRules, type ReadRules } from '../define/read-rules.ts'
import type { Program } from '../program/program.ts'
import { type GitDeps, gitFault, inRepository, type Repository } from './repository.ts'

const input = z.strictObject({
  path: pathArgument.optional().describe('Only this file or directory, relative to the working directory.'),
  staged: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe('Show what is staged for the next commit, not what has changed since.'),
})

type DiffArgs = z.infer<typeof input>

/** The flags of every diff: none of the repository's programs runs, and paths are relative to the workdir. */
export const diffFlags = ['--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=dirty', '--relative']

/** Creates `git_diff`. */
export const createGitDiff = (deps: GitDeps & { readonly readRules?: ReadRules | undefined }) =>
  defineTool({
    name: 'git_diff',
    description:
      'Shows the changes in the working directory as a unified diff: what is not staged yet, or what is staged. Untracked files are not shown; git_status lists them.',
    input,
    changes: 'nothing',

    async preview(args, { workdir }, signal) {
      return inRepository(workdir, deps, signal, async (repository) => {
        const asked = await argsOf(args, repository)
        return asked.ok ? ok({ preview: { type: 'arguments', args } as const }) : asked
      })
    },

    async run(args, context, run) {
      if (!(await begun(run))) return abortedResult
      const shown = await inRepository(context.workdir, deps, run.signal, async (repository) => {
        const denied = await (deps.readRules ?? noReadRules).deniedTest('git_diff', context)
        if (!denied.ok) return denied
        const leftOut = await findLeftOut(args, repository, denied.value)
        if (!leftOut.ok) return leftOut
        const asked = await argsOf(args, repository, leftOut.value)
        if (!asked.ok) return asked
        const program = await repository.start(asked.value)
        return ok(await showDiff(program, { ...args, leftOut: leftOut.value.length }, repository, run))
      }).catch(foreseen)
      return shown.ok ? shown.value : failedWith(shown.fault)
    },
  })

/** Returns the arguments of a diff without the paths that rules leave out. */
async function argsOf(
  { path, staged }: DiffArgs,
  { pathOf }: Repository,
  leftOut: readonly string[] = [],
): Promise<Result<readonly string[]>> {
  const asked = path === undefined ? ok('.') : await pathOf(path)
  if (!asked.ok) return asked
  const flags = ['diff', ...diffFlags, ...(staged ? ['--cached'] : []), '--']
  if (leftOut.length === 0) return ok([...flags, asked.value])
  const excluded = leftOut.map((one) => `:(exclude,literal)${one}`)
  return ok(['--no-literal-pathspecs', ...flags, `:(literal)${asked.value}`, ...excluded])
}

/** More paths do not fit into a command. */
const leftOutMax = 1000

/** Returns the changed paths that rules deny. */
async function findLeftOut(
  args: DiffArgs,
  repository: Repository,
  isDenied: DeniedTest | null,
): Promise<Result<readonly string[]>> {
  if (isDenied === null) return ok([])
  const asked = await argsOf(args, repository)
  if (!asked.ok) return asked
  const [diff = '', ...rest] = asked.value
  const named = await repository.git([diff, '--name-only', '-z', '--no-renames', ...rest])
  if (!named.ok) return named
  const denied: string[] = []
  for (const path of named.value.text.split('\0')) if (path !== '' && (await isDenied(path))) denied.push(path)
  if (denied.length <= leftOutMax && !named.value.isCut) return ok(denied)
  return refuse(fault('too_large', 'Rules deny too many of the changed paths. Ask for one path.'))
}

/** Reads the diff as it comes, so that a long one needs no memory. */
async function showDiff(
  { output, ended, stop }: Program,
  { staged, leftOut }: DiffArgs & { readonly leftOut: number },
  { workdir }: Repository,
  { storeOutput }: ToolRun,
): Promise<ToolResult> {
  let bytes = 0
  async function* bounded(): AsyncGenerator<Uint8Array> {
    for await (const chunk of output) {
      const room = limits.blobBytesMax - noteBytes - bytes
      bytes += chunk.length
      yield chunk.subarray(0, Math.max(0, room))
      if (chunk.length > room) break
    }
    stop()
    if (bytes > limits.blobBytesMax - noteBytes) yield Buffer.from('\n[the diff is too long; ask for one path]')
    if (bytes === 0 && leftOut === 0)
      yield Buffer.from(staged ? 'Nothing is staged.' : 'No changes that are not staged.')
    if (leftOut > 0) yield Buffer.from(`${bytes === 0 ? '' : '\n'}[${leftOutNote(leftOut)}]`)
  }
  const stored = await storeOutput(bounded())
  const end = await ended
  if (end.type === 'aborted') return abortedResult
  if (end.type === 'timed out') return failedWith(fault('too_large', 'git took too long; ask for one path'))
  if (end.type === 'exited' && end.code !== 0) return failedWith(gitFault(end.errors, workdir))
  return { type: 'ok', output: stored }
}

/** Space kept for our notes, within the size limit of a blob. */
const noteBytes = 200
