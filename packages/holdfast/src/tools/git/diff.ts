import type { ToolResult, ToolRun } from '@holdfast/core/ports'
import { fault, limits, ok, type Result } from '@holdfast/protocol'
import { z } from 'zod'
import { pathArgument } from '../define/arguments.ts'
import { abortedResult, begun, defineTool, failedWith, foreseen } from '../define/define-tool.ts'
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
export const createGitDiff = (deps: GitDeps) =>
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

    async run(args, { workdir }, run) {
      if (!(await begun(run))) return abortedResult
      const shown = await inRepository(workdir, deps, run.signal, async (repository) => {
        const asked = await argsOf(args, repository)
        return asked.ok ? ok(await showDiff(await repository.start(asked.value), args, repository, run)) : asked
      }).catch(foreseen)
      return shown.ok ? shown.value : failedWith(shown.fault)
    },
  })

async function argsOf({ path, staged }: DiffArgs, { pathOf }: Repository): Promise<Result<readonly string[]>> {
  const asked = path === undefined ? ok('.') : await pathOf(path)
  return asked.ok ? ok(['diff', ...diffFlags, ...(staged ? ['--cached'] : []), '--', asked.value]) : asked
}

/** Reads the diff as it comes, so that a long one needs no memory. */
async function showDiff(
  { output, ended, stop }: Program,
  { staged }: DiffArgs,
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
    if (bytes === 0) yield Buffer.from(staged ? 'Nothing is staged.' : 'No changes that are not staged.')
  }
  const stored = await storeOutput(bounded())
  const end = await ended
  if (end.type === 'aborted') return abortedResult
  if (end.type === 'timed out') return failedWith(fault('too_large', 'git took too long; ask for one path'))
  if (end.type === 'exited' && end.code !== 0) return failedWith(gitFault(end.errors, workdir))
  return { type: 'ok', output: stored }
}

/** Space kept for our note, within the size limit of a blob. */
const noteBytes = 100
