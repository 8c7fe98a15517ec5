import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import { urlToOpen } from '../../../store/open/store-location.ts'
import type { ImportedFile } from '../../../transfer/import/import-paths.ts'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { createProgressLine } from '../../render/progress-line.ts'
import { runtimeObservers } from '../../sessions/connect.ts'
import { resolveSavedStore } from '../../sessions/resolve-store.ts'
import { resolvePath } from '../../sessions/workspace.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { exitCodes } from '../../terminal/exit.ts'
import type { storeSpecs } from './specs.ts'

/** Of the files of a folder that are not sessions, this many are listed. */
const skippedMax = 20
const barChars = 20

/** Writes to the store from this process; a running server sees the sessions at once. */
export const run: RunCommand<typeof storeSpecs.import> = async ({ positionals, flags }, context) => {
  const { from = 'auto', json } = flags
  const paths = new Set(positionals.map((name) => orThrow(resolvePath(context, name))))
  const store = orThrow(resolveSavedStore(context))
  const { open } = await import('../../../open.ts') // loads every part, which --help does not need
  const { environment, out, err } = context
  const opened = orThrow(await open({ store: urlToOpen(store), environment, ...runtimeObservers(context) }))
  const signal = context.untilInterrupted()
  const { onCount, onFile, end } = createProgress(context)
  try {
    const keepSettings = flags['keep-settings']
    const options = { from: from === 'auto' ? undefined : from, keepSettings, signal, onCount, onFile }
    const files = await opened.import([...paths], options)
    await end()
    for (const file of files) await printFile(file, paths.has(file.file), flags, context)
    const skipped = files.filter(({ status, file }) => status === 'skipped' && !paths.has(file))
    if (!json && !flags.quiet) await printSkipped(skipped, context)
    if (!json) await printWithoutFolder(files, context)
    if (json) await out.writeJson({ files })
    else await err.write(`${summaryOf(files)}\n`)
    if (signal.aborted) return exitCodes.interrupted
    // In a folder that is imported again and again, sessions that were continued here are no failure.
    const hasRefused = files.some(
      ({ status, file }) => status === 'failed' || (status === 'changed' && paths.has(file)),
    )
    const hasFailed = hasRefused || !files.some(isSession)
    return hasFailed ? exitCodes.failed : exitCodes.ok
  } finally {
    await opened.close()
  }
}

const isSession = ({ status }: ImportedFile): boolean => status !== 'skipped' && status !== 'failed'

function createProgress(context: CliContext) {
  const line = createProgressLine(context)
  const startedAt = context.now()
  let [total, files, bytes] = [0, 0, 0]
  return {
    onCount: (found: number) => {
      total = found
    },
    onFile: (file: ImportedFile) => {
      files++
      bytes += file.bytes
      line.show(progressText({ files, total, bytes, tookMs: context.now() - startedAt }))
    },
    end: line.end,
  }
}

type Progress = Readonly<Record<'files' | 'total' | 'bytes' | 'tookMs', number>>

export function progressText({ files, total, bytes, tookMs }: Progress): string {
  const filled = Math.floor((files / Math.max(1, total)) * barChars)
  const perSecond = (bytes / 1e6 / Math.max(1, tookMs)) * 1000
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(barChars - filled)}]`
  return `${bar} ${files} of ${total} files, ${(bytes / 1e6).toFixed(1)} MB, ${perSecond.toFixed(1)} MB/s`
}

async function printSkipped(files: readonly ImportedFile[], { err }: CliContext): Promise<void> {
  for (const { fault } of files.slice(0, skippedMax))
    if (fault) await err.write(`Skipped: ${escapeLine(fault.message)}\n`)
  const more = files.length - skippedMax
  if (more > 0) await err.write(`Skipped: and ${more} more. Use --json to list them all.\n`)
}

/** Says how to give a folder to the sessions that have none: they take no prompt before. */
async function printWithoutFolder(files: readonly ImportedFile[], { err }: CliContext): Promise<void> {
  const found = files.filter(({ status, remarks }) => status === 'imported' && remarks.some(isWithoutFolder))
  const [first] = found
  if (first === undefined) return
  const [have, them] = found.length === 1 ? ['session has', 'it'] : ['sessions have', 'them all']
  await err.write(
    `${found.length} ${have} no folder to work in. To give ${them} one: holdfast mv-workspace '' <folder>\n` +
      `To give one and send a prompt: holdfast run -s ${first.session} --workdir <folder> <prompt>\n`,
  )
}

const isWithoutFolder = ({ code }: ImportedFile['remarks'][number]): boolean =>
  code === 'workdir_missing' || code === 'workdir_dropped'

async function printFile(
  { file, status, session, format, messages, fault, remarks }: ImportedFile,
  isNamed: boolean,
  { json, quiet }: ArgsOf<typeof storeSpecs.import>['flags'],
  { out, err }: CliContext,
): Promise<void> {
  const name = escapeLine(file)
  if (!json && status !== 'skipped' && status !== 'failed')
    await out.write(`${session ?? '-'}  ${status.padEnd(8)}  ${format ?? ''}  ${messages}  ${name}\n`)
  // A file of a folder need not be a session; that is an error only if the user named that file.
  if (fault && (status === 'failed' || isNamed)) await err.write(`${escapeLine(fault.message)}\n`)
  if (status === 'changed')
    await err.write(
      `${name} was not imported: it differs from the last import, is damaged, or the session was continued here. Nothing was changed.\n` +
        `To take the file instead of what is here: holdfast rm ${session} --forever, and then import it again.\n`,
    )
  if (quiet) return
  for (const { line, what } of remarks) await err.write(`${name}${line ? `:${line}` : ''}: ${escapeLine(what)}\n`)
}

function summaryOf(files: readonly ImportedFile[]): string {
  const counts = (['imported', 'grown', 'same', 'changed', 'empty', 'skipped', 'failed'] as const)
    .map((status) => [files.filter((file) => file.status === status).length, status] as const)
    .filter(([count]) => count > 0)
    .map(([count, status]) => `${count} ${status}`)
  return counts.length === 0 ? 'There is nothing to import.' : `${counts.join(', ')}.`
}
