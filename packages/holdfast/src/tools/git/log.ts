import { escapeLine, ok, type Result } from '@holdfast/protocol'
import { z } from 'zod'
import { pathArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { type GitDeps, inRepository, type Repository } from './repository.ts'

const countDefault = 10
const countMax = 200

const input = z.strictObject({
  count: z
    .int({ error: 'must be a whole number' })
    .min(1, 'must be at least 1')
    .max(countMax, `must be at most ${countMax}`)
    .default(countDefault)
    .describe(`How many commits to show. Default ${countDefault}, at most ${countMax}.`),
  path: pathArgument.optional().describe('Only commits that changed this file or directory.'),
})

type LogArgs = z.infer<typeof input>

/** Creates `git_log`. */
export const createGitLog = (deps: GitDeps) =>
  defineTool({
    name: 'git_log',
    description: 'Shows the newest commits of the current branch: hash, date, author, branches and subject.',
    input,
    changes: 'nothing',

    async preview(args, { workdir }, signal) {
      return inRepository(workdir, deps, signal, async (repository) => {
        const asked = await argsOf(args, repository)
        return asked.ok ? ok({ preview: { type: 'arguments', args } as const }) : asked
      })
    },

    run: whenBegun(async (args: LogArgs, { workdir }, { signal }) =>
      inRepository(workdir, deps, signal, async (repository) => {
        const asked = await argsOf(args, repository)
        if (!asked.ok) return asked
        const hasCommits = await repository.git(['rev-parse', '--quiet', '--verify', 'HEAD'], { codes: [0, 1] })
        if (!hasCommits.ok) return hasCommits
        if (hasCommits.value.text === '') return ok({ text: 'The branch has no commits yet.' })
        const logged = await repository.git(asked.value)
        return logged.ok ? ok({ text: describeLog(logged.value.text) || 'No commits changed it.' }) : logged
      }),
    ),
  })

const fields = ['%h', '%as', '%an', '%D', '%s']

async function argsOf({ count, path }: LogArgs, { pathOf }: Repository): Promise<Result<readonly string[]>> {
  const asked = path === undefined ? ok(null) : await pathOf(path)
  if (!asked.ok) return asked
  const flags = ['--no-show-signature', '--no-color', `--max-count=${count}`, `--format=${fields.join('%x00')}`]
  return ok(['log', '-z', ...flags, '--', ...(asked.value === null ? [] : [asked.value])])
}

/** Writes one line for each commit: with -z all fields end with NUL. */
function describeLog(logged: string): string {
  const parts = logged.split('\0')
  const commits = Math.floor(parts.length / fields.length)
  return Array.from({ length: commits }, (_, index) => {
    const at = index * fields.length
    const [hash = '', date = '', author = '', refs = '', subject = ''] = parts
      .slice(at, at + fields.length)
      .map(escapeLine)
    return `${hash} ${date} ${author}${refs === '' ? '' : ` (${refs})`}: ${subject}`
  }).join('\n')
}
