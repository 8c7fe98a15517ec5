import { randomUUID } from 'node:crypto'
import type { SeenEntry } from '@holdfast/core/ports'
import { hashBytes } from '../files/io/before-image.ts'
import type { Repository } from './repository.ts'

const commitTimeoutMs = 5000
/** The content of all files of one commit that are read together. */
const bytesMax = 64 * 1024 * 1024

/** A file in a commit: its mode and the name of its content, as git writes them. */
export type CommittedFile = { readonly gitMode: string; readonly object: string }

/** Lists files of a commit by their paths in the workdir. Null if git fails. */
export async function listCommitted(
  { git, prefix }: Repository,
  commit: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, CommittedFile> | null> {
  if (paths.length === 0) return new Map()
  const listed = await git(['ls-tree', '-z', '--full-name', commit, '--', ...paths], { timeoutMs: commitTimeoutMs })
  if (!listed.ok || listed.value.isCut) return null
  const found = new Map<string, CommittedFile>()
  for (const line of listed.value.text.split('\0')) {
    const [, gitMode = '', object = '', path = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []
    if (path.startsWith(prefix) && path !== '') found.set(path.slice(prefix.length), { gitMode, object })
  }
  return found
}

/**
 * Reads committed files as git would check them out, with the line ends of this work tree, all with one process. What git
 * does not return is left out.
 */
export async function readCommitted(
  { start, prefix }: Repository,
  files: ReadonlyMap<string, CommittedFile>,
): Promise<ReadonlyMap<string, Buffer>> {
  const asked = [...files].filter(([path, { gitMode }]) => isFileMode(gitMode) && !path.includes('\n'))
  if (asked.length === 0) return new Map()
  // The length that git prints is that before its filters, so a mark that no file can hold separates the contents.
  const mark = `${randomUUID()}\n`
  const input = asked.map(([path, { object }]) => `${object} ${prefix}${path}\n`).join('')
  const args = ['cat-file', '--filters', `--batch=${mark.trimEnd()}`]
  const program = await start(args, { input, timeoutMs: commitTimeoutMs })
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of program.output) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bytesMax) program.stop()
  }
  const ended = await program.ended
  const contents = ended.type === 'exited' && ended.code === 0 ? splitAt(Buffer.concat(chunks), mark) : []
  if (contents.length !== asked.length) return new Map()
  return new Map(asked.map(([path], index) => [path, contents[index] ?? Buffer.alloc(0)]))
}

/** Submodules have no content here. */
const isFileMode = (gitMode: string): boolean => gitMode.startsWith('100') || gitMode === linkMode
const linkMode = '120000'

/** Splits contents that each follow a mark and end with a line feed of git. */
function splitAt(bytes: Buffer, mark: string): readonly Buffer[] {
  const contents: Buffer[] = []
  for (let at = bytes.indexOf(mark); at !== -1; ) {
    const next = bytes.indexOf(mark, at + mark.length)
    contents.push(bytes.subarray(at + mark.length, (next === -1 ? bytes.length : next) - 1))
    at = next
  }
  return contents
}

/** Returns what was at a path before a command, if git saw it as unchanged; null if it is as now. */
export function entryOf({ gitMode }: CommittedFile, bytes: Buffer, now: SeenEntry | null): SeenEntry | null {
  if (gitMode === linkMode) return { state: { type: 'link', target: bytes.toString('utf8') }, bytes: null }
  const hash = hashBytes(bytes)
  const mode = modeOf(gitMode === '100755', now)
  const isSame = now?.state.type === 'file' && now.state.hash === hash && now.state.mode === mode
  return isSame ? null : { state: { type: 'file', hash, mode }, bytes }
}

/** Git knows only whether a file is executable. The other bits are those it has now, or those of a new file. */
function modeOf(isExecutable: boolean, now: SeenEntry | null): number {
  const current = now?.state.type === 'file' ? now.state.mode : null
  if (current !== null && ((current & 0o100) !== 0) === isExecutable) return current
  return (isExecutable ? 0o777 : 0o666) & ~process.umask()
}
