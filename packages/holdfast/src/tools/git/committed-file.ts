import type { SeenEntry } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { hashBytes } from '../files/io/before-image.ts'
import type { Repository } from './repository.ts'

const readTimeoutMs = 5000

/**
 * Returns a file as git would check it out of a commit: with the line ends of this work tree. `same` if it is as now,
 * `unknown` if git does not return it whole, null if the commit does not have it.
 */
export async function readCommitted(
  repository: Repository,
  commit: string,
  path: string,
  now: SeenEntry | null,
): Promise<SeenEntry | 'same' | 'unknown' | null> {
  const { git, prefix } = repository
  const listed = await git(['ls-tree', '-z', commit, '--', path], { timeoutMs: readTimeoutMs })
  if (!listed.ok) return 'unknown'
  const [gitMode, kind] = listed.value.text.split(' ')
  if (gitMode === undefined || kind === undefined) return null
  if (kind !== 'blob') return 'unknown' // a submodule
  const isLink = gitMode === '120000'
  const how = isLink ? ['blob'] : ['--filters']
  const bytes = await readBytes(repository, ['cat-file', ...how, `${commit}:${prefix}${path}`])
  if (bytes === null) return 'unknown'
  if (isLink) return { state: { type: 'link', target: bytes.toString('utf8') }, bytes: null }
  const hash = hashBytes(bytes)
  const mode = modeOf(gitMode === '100755', now)
  const isSame = now?.state.type === 'file' && now.state.hash === hash && now.state.mode === mode
  return isSame ? 'same' : { state: { type: 'file', hash, mode }, bytes }
}

/** Git knows only whether a file is executable. The other bits are those it has now, or those of a new file. */
function modeOf(isExecutable: boolean, now: SeenEntry | null): number {
  const current = now?.state.type === 'file' ? now.state.mode : null
  if (current !== null && ((current & 0o100) !== 0) === isExecutable) return current
  return (isExecutable ? 0o777 : 0o666) & ~process.umask()
}

async function readBytes({ start }: Repository, args: readonly string[]): Promise<Buffer | null> {
  const program = await start(args, { timeoutMs: readTimeoutMs })
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of program.output) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > limits.beforeImageBytesMax) program.stop()
  }
  const ended = await program.ended
  return ended.type === 'exited' && ended.code === 0 ? Buffer.concat(chunks) : null
}
