import { escapeLine, ok } from '@holdfast/protocol'
import { z } from 'zod'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { type GitDeps, inRepository } from './repository.ts'

/** Paths listed in each section; the rest is counted. */
const pathsMax = 500

const input = z.strictObject({})

/** Creates `git_status`. */
export const createGitStatus = (deps: GitDeps) =>
  defineTool({
    name: 'git_status',
    description: 'Shows the branch and the staged, changed and untracked files of the working directory.',
    input,
    changes: 'nothing',

    async preview(args, { workdir }, signal) {
      return inRepository(workdir, deps, signal, async () => ok({ preview: { type: 'arguments', args } as const }))
    },

    run: whenBegun(async (_: z.infer<typeof input>, { workdir }, { signal }) =>
      inRepository(workdir, deps, signal, async ({ git, prefix }) => {
        const flags = ['--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--ignore-submodules=dirty']
        const listed = await git(['status', ...flags, '--', '.'])
        return listed.ok ? ok({ text: describeStatus(listed.value.text, prefix, listed.value.isCut) }) : listed
      }),
    ),
  })

const changes: Readonly<Record<string, string>> = {
  M: 'modified',
  T: 'type changed',
  A: 'added',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
}

/** Describes the output of `git status --porcelain=v2 --branch -z`. */
export function describeStatus(listed: string, prefix: string, isCut: boolean): string {
  const sections = { Staged: [], 'Not staged': [], Conflicts: [], Untracked: [] } as Record<string, string[]>
  const branch: Record<string, string> = {}
  const parts = listed.split('\0')
  const shown = (path: string) => escapeLine(path.startsWith(prefix) ? path.slice(prefix.length) : `/${path}`)
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? ''
    const fields = part.split(' ')
    if (part.startsWith('# branch.')) branch[fields[1]?.slice('branch.'.length) ?? ''] = fields.slice(2).join(' ')
    else if (part.startsWith('? ')) sections['Untracked']?.push(shown(part.slice(2)))
    else if (part.startsWith('u ')) sections['Conflicts']?.push(shown(fields.slice(10).join(' ')))
    else if (part.startsWith('1 ') || part.startsWith('2 ')) {
      const isRename = part.startsWith('2 ')
      const path = shown(fields.slice(isRename ? 9 : 8).join(' '))
      const from = isRename ? ` (from ${shown(parts[++at] ?? '')})` : ''
      const [staged = '.', unstaged = '.'] = fields[1] ?? '..'
      if (staged !== '.') sections['Staged']?.push(`${changes[staged] ?? staged} ${path}${from}`)
      if (unstaged !== '.') sections['Not staged']?.push(`${changes[unstaged] ?? unstaged} ${path}`)
    }
  }
  const filled = Object.entries(sections).filter(([, paths]) => paths.length > 0)
  const lists = filled.map(([name, paths]) => {
    const more = paths.length > pathsMax ? [`  [${paths.length - pathsMax} more]`] : []
    return [`${name}:`, ...paths.slice(0, pathsMax).map((path) => `  ${path}`), ...more].join('\n')
  })
  const rest = isCut ? ['[there are more changes than could be read]'] : []
  return [
    describeBranch(branch),
    ...(lists.length > 0 ? lists : ['Nothing to commit, the working tree is clean.']),
    ...rest,
  ].join('\n')
}

function describeBranch({ head = '', oid = '', upstream, ab = '' }: Record<string, string>): string {
  const name = head === '(detached)' ? `No branch (at ${oid.slice(0, 10)})` : `On branch ${escapeLine(head)}`
  const [, ahead = '0', behind = '0'] = /^\+(\d+) -(\d+)$/.exec(ab) ?? []
  const far = [...(ahead === '0' ? [] : [`${ahead} ahead`]), ...(behind === '0' ? [] : [`${behind} behind`])]
  const relation = upstream === undefined ? '' : `, ${far.join(', ') || 'up to date'} with ${escapeLine(upstream)}`
  return `${name}${relation}${oid === '(initial)' ? ', no commits yet' : ''}`
}
