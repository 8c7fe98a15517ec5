import { escapeLine, ok } from '@holdfast/protocol'
import { z } from 'zod'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { sliceEntries } from './read-entries.ts'
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
        return listed.ok ? ok({ text: await describeStatus(listed.value.bytes, prefix, listed.value.isCut) }) : listed
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
export async function describeStatus(listed: Buffer, prefix: string, isCut: boolean): Promise<string> {
  const sections = { Staged: [], 'Not staged': [], Conflicts: [], Untracked: [] } as Record<string, string[]>
  const counts: Record<string, number> = {}
  const add = (section: string, describe: () => string): void => {
    counts[section] = (counts[section] ?? 0) + 1
    if (counts[section] <= pathsMax) sections[section]?.push(describe())
  }
  const branch: Record<string, string> = {}
  /** Adds a renamed file once its old name is read, which is an entry of its own. */
  let addRenamed: ((from: string) => void) | null = null
  const shown = (path: string) => escapeLine(path.startsWith(prefix) ? path.slice(prefix.length) : `/${path}`)
  const read = (part: string): void => {
    if (addRenamed !== null) {
      addRenamed(part)
      addRenamed = null
      return
    }
    const fields = part.split(' ')
    if (part.startsWith('# branch.')) branch[fields[1]?.slice('branch.'.length) ?? ''] = fields.slice(2).join(' ')
    else if (part.startsWith('? ')) add('Untracked', () => shown(part.slice(2)))
    else if (part.startsWith('u ')) add('Conflicts', () => shown(fields.slice(10).join(' ')))
    else if (part.startsWith('1 ')) addChanged(fields, 8, '')
    else if (part.startsWith('2 ')) addRenamed = (from) => addChanged(fields, 9, ` (from ${shown(from)})`)
  }
  const addChanged = (fields: readonly string[], before: number, from: string): void => {
    const path = () => shown(fields.slice(before).join(' '))
    const [staged = '.', unstaged = '.'] = fields[1] ?? '..'
    if (staged !== '.') add('Staged', () => `${changes[staged] ?? staged} ${path()}${from}`)
    if (unstaged !== '.') add('Not staged', () => `${changes[unstaged] ?? unstaged} ${path()}`)
  }
  for await (const parts of sliceEntries(listed)) parts.forEach(read)
  const filled = Object.entries(sections).filter(([, paths]) => paths.length > 0)
  const lists = filled.map(([name, paths]) => {
    const left = (counts[name] ?? 0) - paths.length
    return [`${name}:`, ...paths.map((path) => `  ${path}`), ...(left > 0 ? [`  [${left} more]`] : [])].join('\n')
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
