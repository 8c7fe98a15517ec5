import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import { urlToOpen } from '../../../store/open/store-location.ts'
import type { ImportedFile } from '../../../transfer/import/import-paths.ts'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { runtimeObservers } from '../../connect/connect.ts'
import { resolveSavedStore } from '../../connect/resolve-store.ts'
import { resolvePath } from '../../connect/workspace.ts'
import { createProgressLine } from '../../render/progress-line.ts'
import { counted } from '../../render/tables.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { exitCodes } from '../../terminal/exit.ts'
import type { storeSpecs } from './specs.ts'

/** Of each kind of line, this many are printed without --list: a folder may have thousands of files. */
const linesMax = 20

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
    await err.write(err.wrap(problemText(files, paths, flags.list ? Number.POSITIVE_INFINITY : linesMax)))
    if (json) await out.writeJson({ files })
    else await printFiles(files, paths, flags, context)
    if (!json) await err.tell(summaryOf(files))
    if (signal.aborted) return exitCodes.interrupted
    // In a folder that is imported again and again, sessions that were continued here are no failure.
    const hasRefused = files.some(
      (file) =>
        file.status === 'failed' || (paths.has(file.file) && (file.status === 'changed' || isDamagedWhole(file))),
    )
    const hasFailed = hasRefused || !files.some(isSession)
    return hasFailed ? exitCodes.failed : exitCodes.ok
  } finally {
    await opened.close()
  }
}

/** Whether no record of a session file could be read. A session without messages is not damaged. */
const isDamagedWhole = ({ status, remarks }: ImportedFile): boolean => status === 'empty' && remarks.length > 0

const isSession = ({ status }: ImportedFile): boolean => status !== 'skipped' && status !== 'failed'

function createProgress(context: CliContext) {
  const line = createProgressLine(context)
  let [total, done, bytes] = [0, 0, 0]
  return {
    onCount: (found: number) => {
      total = found
    },
    onFile: (file: ImportedFile) => {
      done++
      bytes += file.bytes
      line.show({ done, total, unit: 'files', bytes })
    },
    end: line.end,
  }
}

/** Prints the sessions, what was repaired and what was skipped: a few of each, or all with --list. */
async function printFiles(
  files: readonly ImportedFile[],
  named: ReadonlySet<string>,
  { quiet, list }: Pick<ArgsOf<typeof storeSpecs.import>['flags'], 'quiet' | 'list'>,
  context: CliContext,
): Promise<void> {
  const { out, err } = context
  const most = list ? Number.POSITIVE_INFINITY : linesMax
  const sessions = files.filter(isSession).map(sessionLine)
  await out.write(sessions.slice(0, most).join(''))
  const print = async (lines: readonly string[], more: (count: number) => string) => {
    await err.write(err.wrap(lines.slice(0, most).join('')))
    if (lines.length > most) await err.tell(`${more(lines.length - most)} Use --list to list them all.`)
  }
  if (sessions.length > most)
    await err.tell(`… and ${counted(sessions.length - most, 'session')} more. Use --list to list them all.`)
  if (!quiet) {
    await print(
      [...folderLines(files), ...files.flatMap(remarkLines)],
      (count) => `… and ${counted(count, 'repair')} more.`,
    )
    const skipped = files.filter(({ status, file, fault }) => status === 'skipped' && fault && !named.has(file))
    await print(
      skipped.map(({ fault }) => `Skipped: ${escapeLine(fault?.message ?? '')}\n`),
      (count) => `Skipped: and ${count} more.`,
    )
  }
  await printWithoutFolder(files, context)
}

const sessionLine = ({ file, status, session, format, messages }: ImportedFile): string =>
  `${session ?? '-'}  ${status.padEnd(8)}  ${format ?? ''}  ${messages}  ${escapeLine(file)}\n`

/** Returns a line for each folder that sessions cannot have: many files name the same one. */
function folderLines(files: readonly ImportedFile[]): readonly string[] {
  const named = files.flatMap(({ file, remarks }) =>
    remarks.filter(isWithoutFolder).map(({ what }) => ({ file, what })),
  )
  return [...Map.groupBy(named, ({ what }) => what)].map(([what, [first, ...others]]) => {
    const who = others.length === 0 ? escapeLine(first?.file ?? '') : counted(others.length + 1, 'file')
    return `${who}: ${escapeLine(what)}\n`
  })
}

const remarkLines = ({ file, remarks }: ImportedFile): readonly string[] =>
  remarks
    .filter((remark) => !isWithoutFolder(remark))
    .map(({ line, what }) => `${escapeLine(file)}${line ? `:${line}` : ''}: ${escapeLine(what)}\n`)

/** Says how to give a folder to the sessions that have none: they take no prompt before. */
async function printWithoutFolder(files: readonly ImportedFile[], { err }: CliContext): Promise<void> {
  const found = files.filter(({ status, remarks }) => status === 'imported' && remarks.some(isWithoutFolder))
  const [first] = found
  if (first === undefined) return
  const [have, them] = found.length === 1 ? ['session has', 'it'] : ['sessions have', 'them all']
  await err.tell(
    `${found.length} ${have} no folder to work in. To give ${them} one: holdfast mv-workspace '' <folder>\n` +
      `To give one and send a prompt: holdfast run -s ${first.session} --workdir <folder> <prompt>`,
  )
}

const isWithoutFolder = ({ code }: ImportedFile['remarks'][number]): boolean =>
  code === 'workdir_missing' || code === 'workdir_dropped'

/**
 * Returns why files failed, and which were not imported because they differ: `most` of each. A file that was named is always
 * said. A file of a folder need not be a session.
 */
export function problemText(files: readonly ImportedFile[], named: ReadonlySet<string>, most: number): string {
  const failed = files.filter(({ file, status, fault }) => fault && (status === 'failed' || named.has(file)))
  const changed = files.filter(({ status }) => status === 'changed')
  const bounded = (all: readonly ImportedFile[], textOf: (file: ImportedFile) => string, what: string) => {
    const [own, others] = [all.filter(({ file }) => named.has(file)), all.filter(({ file }) => !named.has(file))]
    const left = others.length - most
    const more = left > 0 ? `… and ${left} more that ${what}. Use --list to list them all.\n` : ''
    return [...own, ...others.slice(0, most)].map(textOf).join('') + more
  }
  const damaged = files.filter(isDamagedWhole)
  return (
    bounded(failed, ({ fault }) => `${escapeLine(fault?.message ?? '')}\n`, 'failed') +
    bounded(damaged, ({ file }) => `${escapeLine(file)} is damaged: no message of it can be read.\n`, 'are damaged') +
    bounded(changed, changedText, 'differ')
  )
}

const changedText = ({ file, session }: ImportedFile): string =>
  `${escapeLine(file)} was not imported: it differs from the last import, is damaged, or the session was continued here. Nothing was changed.\n` +
  `To take the file instead of what is here: holdfast rm ${session} --forever, and then import it again.\n`

function summaryOf(files: readonly ImportedFile[]): string {
  const counts = (['imported', 'grown', 'same', 'changed', 'empty', 'skipped', 'failed'] as const)
    .map((status) => [files.filter((file) => file.status === status).length, status] as const)
    .filter(([count]) => count > 0)
    .map(([count, status]) => `${count} ${status}`)
  return counts.length === 0 ? 'There is nothing to import.' : `${counts.join(', ')}.`
}
