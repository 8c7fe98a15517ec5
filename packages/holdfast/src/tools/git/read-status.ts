import type { CommittedFile } from './committed-files.ts'
import { hasMoreEntries, sliceEntries } from './read-entries.ts'
import type { Repository } from './repository.ts'

/** A larger tree is not compared; a command must not wait long for git. */
const statusTimeoutMs = 5000
/** Changed, new and ignored files of a tree that is compared. */
const entriesMax = 100_000

/** What `git status` says about a workdir. Paths are those in the workdir. */
export type GitStatus = {
  /** The last commit; null before the first. */
  readonly head: string | null
  /** The files that differ from the last commit, and new ones. */
  readonly paths: readonly string[]
  /** What git ignores: files, and directories that end with '/'. */
  readonly ignored: readonly string[]
  /** What the last commit has of these files; null if nothing. Absent: git has to be asked. */
  readonly committed: ReadonlyMap<string, CommittedFile | null>
  /** The files among them with names that are not UTF-8, as Latin-1, in which each character is a byte. */
  readonly unreadable: readonly string[]
}

/** Reads what differs from the last commit, and what is ignored. Null if git is too slow or lists too much. */
export async function readStatus({ git, prefix }: Repository): Promise<GitStatus | null> {
  const files = ['--untracked-files=all', '--ignored=matching', '--ignore-submodules=all', '--no-renames']
  const listed = await git(['status', '--porcelain=v2', '--branch', '-z', ...files, '--', '.'], {
    timeoutMs: statusTimeoutMs,
  })
  if (!listed.ok || listed.value.isCut || hasMoreEntries(listed.value.bytes, entriesMax)) return null
  return parseStatus(listed.value.bytes, prefix)
}

/** How many fields come before the path in an entry of each kind: changed, in conflict, new. */
const fieldsBeforePath: Readonly<Record<string, number>> = { '1': 8, u: 10, '?': 1 }

/** Parses what `git status --porcelain=v2 --branch -z` printed in a workdir, whose path in the repository is `prefix`. */
export async function parseStatus(printed: Buffer, prefix: string): Promise<GitStatus> {
  const paths: string[] = []
  const ignored: string[] = []
  const committed = new Map<string, CommittedFile | null>()
  const unreadable: string[] = []
  let head: string | null = null
  const read = (part: string): void => {
    const fields = part.split(' ')
    const [kind = '', , , gitMode = '', , , object = ''] = fields
    if (part.startsWith('# branch.oid ') && fields[2] !== '(initial)') head = fields[2] ?? null
    if (kind === '!') ignored.push(...pathsBelow(part.slice(2), prefix).readable)
    const skipped = fieldsBeforePath[kind]
    if (skipped === undefined) return
    const below = pathsBelow(fields.slice(skipped).join(' '), prefix)
    unreadable.push(...below.unreadable)
    for (const path of below.readable) {
      if (path.endsWith('/')) continue
      paths.push(path)
      if (kind === '1') committed.set(path, gitMode === '000000' ? null : { gitMode, object })
      else if (kind === '?' && !committed.has(path)) committed.set(path, null)
    }
  }
  for await (const parts of sliceEntries(printed, 'latin1')) parts.forEach(read)
  return { head, paths, ignored, committed, unreadable }
}

/** Lists the paths in the workdir that differ between two commits. */
export async function readMoved(
  { git, prefix }: Repository,
  from: string | null,
  to: string | null,
): Promise<Pick<GitStatus, 'paths' | 'unreadable'>> {
  const none = { paths: [], unreadable: [] }
  if (from === to || from === null || to === null) return none
  const flags = ['-r', '-z', '--name-only', '--no-renames', '--ignore-submodules=all']
  const listed = await git(['diff-tree', ...flags, from, to, '--', '.'], { timeoutMs: statusTimeoutMs })
  if (!listed.ok || listed.value.isCut || hasMoreEntries(listed.value.bytes, entriesMax)) return none
  const paths: string[] = []
  const unreadable: string[] = []
  for await (const names of sliceEntries(listed.value.bytes, 'latin1'))
    for (const name of names) {
      const below = pathsBelow(name, prefix)
      paths.push(...below.readable)
      unreadable.push(...below.unreadable)
    }
  return { paths, unreadable }
}

/** Returns a path of the repository as one below `prefix`: none if it is elsewhere. */
function pathsBelow(name: string, prefix: string) {
  const path = Buffer.from(name, 'latin1').toString('utf8')
  if (path === '' || !path.startsWith(prefix)) return { readable: [], unreadable: [] }
  if (isUnreadable(path)) return { readable: [], unreadable: [name.slice(Buffer.byteLength(prefix))] }
  return { readable: [path.slice(prefix.length)], unreadable: [] }
}

/** Whether a name is not valid UTF-8. Its decoded form could be another file's name. */
const isUnreadable = (path: string): boolean => path.includes('\ufffd')
