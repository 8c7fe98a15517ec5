import { resolve } from 'node:path'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { ImportedFile } from '../../../transfer/import/import-paths.ts'
import { formatNames } from '../../../transfer/import/parse/format.ts'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { createProgressLine } from '../../render/progress-line.ts'
import { runtimeObservers } from '../../sessions/connect.ts'
import { diskStoreOf } from '../../sessions/resolve-store.ts'
import { currentDirectory } from '../../sessions/workspace.ts'
import { type Ended, ended, exitCodes, misused, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

/** Of what a folder holds beside sessions, so much is named. */
const skippedNamedMax = 20
const barChars = 20

/** Writes into the store of this machine from its own process; a server that runs beside it sees the sessions at once. */
export async function importSessions({ words, flags }: ArgsOf<'import'>, place: CliContext): Promise<Ended> {
  const { from = 'auto', json: isJson, quiet: isQuiet } = flags
  const format = formatNames.find((one) => one === from)
  if (format === undefined && from !== 'auto')
    return misused(`--from is auto, ${formatNames.join(', ')}, not '${from}'.`)
  const here = currentDirectory(place)
  if (!here.ok) return refused(here.fault)
  const paths = words.map((word) => resolve(here.value, word))

  const store = diskStoreOf(place)
  if (!store.ok) return refused(store.fault)
  const { open } = await import('../../../open.ts') // brings every part, which --help does not need
  const opened = await open({ store: store.value.url, environment: place.environment, ...runtimeObservers(place) })
  if (!opened.ok) return refused(opened.fault)
  const signal = place.untilInterrupted()
  const progress = createProgress(place)
  try {
    const files = await opened.value.import(paths, {
      ...{ from: format, signal },
      ...{ onCount: progress.count, onFile: progress.tell },
    })
    await progress.end()
    const named = new Set(paths)
    for (const file of files) await tellFile(file, place, isJson, isQuiet, named.has(file.file))
    if (!isJson && !isQuiet)
      await tellSkipped(
        files.filter((file) => isSkipped(file) && !named.has(file.file)),
        place,
      )
    if (isJson) await place.out.write(`${toJsonText({ files })}\n`)
    else await place.err.write(`${sumOf(files)}\n`)
    if (signal.aborted) return ended(exitCodes.interrupted)
    return ended(
      files.some(({ status }) => status === 'failed') || !files.some(isSession) ? exitCodes.failed : exitCodes.ok,
    )
  } finally {
    await opened.value.close()
  }
}

const isSkipped = ({ status }: ImportedFile): boolean => status === 'skipped'
const isSession = ({ status }: ImportedFile): boolean => status !== 'skipped' && status !== 'failed'

/** How far it is: files of how many, and how fast. */
function createProgress(place: CliContext) {
  const line = createProgressLine(place)
  const began = place.now()
  let [total, files, bytes] = [0, 0, 0]
  return {
    count(found: number): void {
      total = found
    },
    tell(file: ImportedFile): void {
      files++
      bytes += file.bytes
      line.tell(progressText({ files, total, bytes, tookMs: place.now() - began }))
    },
    end: line.end,
  }
}

export function progressText({
  files,
  total,
  bytes,
  tookMs,
}: {
  readonly files: number
  readonly total: number
  readonly bytes: number
  readonly tookMs: number
}): string {
  const full = Math.floor((files / Math.max(1, total)) * barChars)
  const perSecond = (bytes / 1e6 / Math.max(1, tookMs)) * 1000
  const bar = `[${'#'.repeat(full)}${'-'.repeat(barChars - full)}]`
  return `${bar} ${files} of ${total} files, ${(bytes / 1e6).toFixed(1)} MB, ${perSecond.toFixed(1)} MB/s`
}

async function tellSkipped(files: readonly ImportedFile[], { err }: CliContext): Promise<void> {
  for (const { fault } of files.slice(0, skippedNamedMax))
    if (fault) await err.write(`Skipped: ${escapeLine(fault.message)}\n`)
  const more = files.length - skippedNamedMax
  if (more > 0) await err.write(`Skipped: and ${more} more; --json names them all.\n`)
}

async function tellFile(
  file: ImportedFile,
  { out, err }: CliContext,
  isJson: boolean,
  isQuiet: boolean,
  isNamed: boolean,
): Promise<void> {
  const name = escapeLine(file.file)
  if (!isJson && isSession(file))
    await out.write(
      `${file.session ?? '-'}  ${file.status.padEnd(8)}  ${file.format ?? ''}  ${file.messages}  ${name}\n`,
    )
  // A folder holds more than sessions: that a file in it is none went wrong only where that file was asked for.
  if (file.fault && (file.status === 'failed' || isNamed)) await err.write(`${escapeLine(file.fault.message)}\n`)
  if (file.status === 'changed')
    await err.write(
      `${name}: it differs from what was imported before, or the session has gone on here; nothing was changed.\n`,
    )
  if (isQuiet) return
  for (const { line, what } of file.remarks) await err.write(`${name}${line ? `:${line}` : ''}: ${escapeLine(what)}\n`)
}

function sumOf(files: readonly ImportedFile[]): string {
  const count = (status: ImportedFile['status']) => files.filter((file) => file.status === status).length
  const words = (['imported', 'grown', 'same', 'changed', 'empty', 'skipped', 'failed'] as const)
    .map((status) => [count(status), status] as const)
    .filter(([number]) => number > 0)
    .map(([number, status]) => `${number} ${status}`)
  return words.length === 0 ? 'Nothing to import.' : `${words.join(', ')}.`
}
