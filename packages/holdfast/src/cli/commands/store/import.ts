import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { ImportedFile } from '../../../transfer/import/import-paths.ts'
import type { ArgsOf, RunCommand } from '../../args/command-specs.ts'
import { createProgressLine } from '../../render/progress-line.ts'
import { runtimeObservers } from '../../sessions/connect.ts'
import { resolveDiskStore } from '../../sessions/resolve-store.ts'
import { resolvePath } from '../../sessions/workspace.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { exitCodes, exitWith, failWith } from '../../terminal/exit.ts'

/** Of the files of a folder that are not sessions, this many are listed. */
const skippedMax = 20
const barChars = 20

/** Writes to the store from this process; a running server sees the sessions at once. */
export const run: RunCommand<'import'> = async ({ positionals, flags }, context) => {
  const { from = 'auto', json } = flags
  const paths = new Set<string>()
  for (const name of positionals) {
    const path = resolvePath(context, name)
    if (!path.ok) return failWith(path.fault)
    paths.add(path.value)
  }
  const store = resolveDiskStore(context)
  if (!store.ok) return failWith(store.fault)
  const { open } = await import('../../../open.ts') // loads every part, which --help does not need
  const { environment, out, err } = context
  const opened = await open({ store: store.value.url, environment, ...runtimeObservers(context) })
  if (!opened.ok) return failWith(opened.fault)
  const signal = context.untilInterrupted()
  const progress = createProgress(context)
  try {
    const files = await opened.value.import([...paths], {
      ...{ from: from === 'auto' ? undefined : from, signal },
      ...{ onCount: progress.count, onFile: progress.add },
    })
    await progress.end()
    for (const file of files) await printFile(file, paths.has(file.file), flags, context)
    const skipped = files.filter(({ status, file }) => status === 'skipped' && !paths.has(file))
    if (!json && !flags.quiet) await printSkipped(skipped, context)
    if (json) await out.writeJson({ files })
    else await err.write(`${summaryOf(files)}\n`)
    if (signal.aborted) return exitWith(exitCodes.interrupted)
    const hasFailed = files.some(({ status }) => status === 'failed') || !files.some(isSession)
    return exitWith(hasFailed ? exitCodes.failed : exitCodes.ok)
  } finally {
    await opened.value.close()
  }
}

const isSession = ({ status }: ImportedFile): boolean => status !== 'skipped' && status !== 'failed'

function createProgress(context: CliContext) {
  const line = createProgressLine(context)
  const startedAt = context.now()
  let [total, files, bytes] = [0, 0, 0]
  return {
    count(found: number): void {
      total = found
    },
    add(file: ImportedFile): void {
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

async function printFile(
  { file, status, session, format, messages, fault, remarks }: ImportedFile,
  isNamed: boolean,
  { json, quiet }: ArgsOf<'import'>['flags'],
  { out, err }: CliContext,
): Promise<void> {
  const name = escapeLine(file)
  if (!json && status !== 'skipped' && status !== 'failed')
    await out.write(`${session ?? '-'}  ${status.padEnd(8)}  ${format ?? ''}  ${messages}  ${name}\n`)
  // A file of a folder need not be a session; that is an error only if the user named that file.
  if (fault && (status === 'failed' || isNamed)) await err.write(`${escapeLine(fault.message)}\n`)
  if (status === 'changed')
    await err.write(
      `${name} was not imported: it differs from the last import, or the session was continued here. Nothing was changed.\n`,
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
