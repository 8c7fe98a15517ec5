import { resolve } from 'node:path'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { formatNames } from '../../import/format.ts'
import type { ImportedFile } from '../../import/import-paths.ts'
import type { ArgsOf } from '../command-table.ts'
import { type Ended, ended, exitCodes, misused, refused } from '../ended.ts'
import { toJsonText } from '../json-text.ts'
import type { Place } from '../place.ts'
import { tellProblem } from '../reach-sessions.ts'
import { currentDirectory } from '../workspace.ts'

const progressMs = 200

/** Writes into the store of this machine from its own process; a server that runs beside it sees the sessions at once. */
export async function importSessions({ words, flags }: ArgsOf<'import'>, place: Place): Promise<Ended> {
  const { from = 'auto', json: isJson, quiet: isQuiet } = flags
  const format = formatNames.find((one) => one === from)
  if (format === undefined && from !== 'auto')
    return misused(`--from is auto, ${formatNames.join(', ')}, not '${from}'.`)
  const here = currentDirectory(place)
  if (!here.ok) return refused(here.fault)
  const paths = words.map((word) => resolve(here.value, word))

  const { open } = await import('../../open.ts') // brings every part, which --help does not need
  const opened = await open({ environment: place.environment, onProblem: tellProblem(place) })
  if (!opened.ok) return refused(opened.fault)
  const signal = place.untilInterrupted()
  const progress = createProgress(place)
  try {
    const files = await opened.value.import(paths, { from: format, onFile: progress.tell, signal })
    await progress.end()
    const named = new Set(paths)
    for (const file of files) await tellFile(file, place, isJson, isQuiet, named.has(file.file))
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

const isSession = ({ status }: ImportedFile): boolean => status !== 'skipped' && status !== 'failed'

/** One line on the terminal that says how far it is. */
function createProgress({ err, now }: Place) {
  let files = 0
  let bytes = 0
  let told = now()
  let writing = Promise.resolve()
  const began = told
  return {
    tell(file: ImportedFile): void {
      files++
      bytes += file.bytes
      if (!err.isTerminal || now() - told < progressMs) return
      told = now()
      const perSecond = (bytes / 1e6 / Math.max(1, told - began)) * 1000
      writing = err.write(`\r\u001b[K${files} files, ${(bytes / 1e6).toFixed(1)} MB, ${perSecond.toFixed(1)} MB/s`)
    },
    async end(): Promise<void> {
      await writing
      if (err.isTerminal) await err.write('\r\u001b[K')
    },
  }
}

async function tellFile(
  file: ImportedFile,
  { out, err }: Place,
  isJson: boolean,
  isQuiet: boolean,
  isNamed: boolean,
): Promise<void> {
  const name = escapeLine(file.file)
  if (!isJson && isSession(file))
    await out.write(
      `${file.session ?? '-'}  ${file.status.padEnd(8)}  ${file.format ?? ''}  ${file.messages}  ${name}\n`,
    )
  // A folder holds more than sessions: only of a file that was asked for is it said that it is none.
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
