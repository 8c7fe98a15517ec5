import { extname } from 'node:path'
import type { Message, Meta } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import { type ExportFormat, exportSession } from '../../../transfer/export/export-session.ts'
import type { RunCommand } from '../../args/command-spec.ts'
import { resolvePath } from '../../connect/workspace.ts'
import { createProgressLine } from '../../render/progress-line.ts'
import { warnOfLoss, withStoredSession } from '../../sessions/stored-session.ts'
import type { CliContext, GivenServer } from '../../terminal/cli-context.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import { openPrivateFile } from '../../terminal/private-file.ts'
import type { storeSpecs } from './specs.ts'

export const run: RunCommand<typeof storeSpecs.export> = async ({ positionals: [name = ''], flags }, context) => {
  const format = flags.format ?? (flags.json ? 'json' : (formatOf(flags.output) ?? 'md'))
  const ending = extname(flags.output ?? '')
  if (flags.format === undefined && !flags.json && ending !== '' && formatOf(flags.output) === undefined)
    return rejectUsage(
      `Holdfast cannot write ${escapeLine(ending)} files. End the name in .md, .html, .json or .jsonl, or choose what is written with --format md, html, json or jsonl.`,
    )
  if (flags.json && format !== 'json') return rejectUsage(`Use either --json or --format ${format}, not both.`)
  if (flags.force && flags.output === undefined) return rejectUsage('--force needs --output <file>.')
  if (context.server) return exportRemote(context, context.server, name, { ...flags, format })
  return withStoredSession(context, name, {}, async (session) => {
    const file = flags.output === undefined ? null : openOutput(flags.output, flags.force, context)
    const progress = createExportProgress(file?.write ?? context.out.write, file !== null, session.meta, context)
    try {
      // JSONL is the only format that includes files.
      await using blobs = format === 'jsonl' ? await session.openBlobs() : null
      const source = {
        ...session,
        blobs,
        transcript: async () => ({ ...session, pages: () => progress.count(session.pages()) }),
      }
      for await (const text of exportSession(source, { format, redact: flags.redact })) await progress.write(text)
      await progress.end()
      await warnOfLoss(session, context)
    } catch (error) {
      await progress.end()
      file?.discard()
      throw error
    }
    if (file === null) return
    orThrow(file.commit())
    await tellWritten(flags.output, format, context)
  })
}

/** Shows how much of a session is written. What goes to standard output needs no progress. */
function createExportProgress(
  write: (text: string) => Promise<void> | void,
  isToFile: boolean,
  { messageCount }: Pick<Meta, 'messageCount'>,
  context: CliContext,
) {
  const line = createProgressLine(context)
  let [done, bytes] = [0, 0]
  return {
    /** Counts the messages that are read. The log of a JSONL file has none: its records are written as they are. */
    async *count(pages: AsyncIterable<readonly Message[]>): AsyncGenerator<readonly Message[]> {
      for await (const messages of pages) {
        yield messages
        done += messages.length
      }
    },
    async write(text: string): Promise<void> {
      await write(text)
      bytes += Buffer.byteLength(text)
      if (isToFile) line.show({ done, total: done === 0 ? null : messageCount, unit: 'messages', bytes })
    },
    end: async () => (isToFile ? line.end() : undefined),
  }
}

/** Returns the format that the ending of a file's name says. */
export function formatOf(file: string | undefined): ExportFormat | undefined {
  const ending = extname(file ?? '').toLowerCase()
  const formats = {
    '.md': 'md',
    '.markdown': 'md',
    '.html': 'html',
    '.htm': 'html',
    '.json': 'json',
    '.jsonl': 'jsonl',
  } as const
  return formats[ending as keyof typeof formats] // undefined for any other ending
}

type RemoteFlags = {
  readonly format: ExportFormat
  readonly redact: boolean
  readonly output?: string | undefined
  readonly force: boolean
}

/** Writes the export that a server makes. */
async function exportRemote(
  context: CliContext,
  server: GivenServer,
  name: string,
  flags: RemoteFlags,
): Promise<undefined> {
  const { connectGiven } = await import('../../connect/connect-given.ts')
  const { openRemote } = await import('../../sessions/remote.ts')
  const { id } = await openRemote(context, server, name)
  const { format, redact, output, force } = flags
  const pieces = connectGiven(server).export(id, { format, redact })
  const file = output === undefined ? null : openOutput(output, force, context)
  const write = file?.write ?? context.out.write
  try {
    for await (const text of pieces) await write(text)
  } catch (error) {
    file?.discard()
    throw error
  }
  if (file === null) return
  orThrow(file.commit())
  await tellWritten(output, format, context)
}

const formatTitles: Readonly<Record<ExportFormat, string>> = {
  md: 'Markdown',
  html: 'HTML',
  json: 'JSON',
  jsonl: 'JSON Lines',
}

/** Names the format where the name of the file does not say it. */
async function tellWritten(output: string | undefined, format: ExportFormat, { err }: CliContext): Promise<void> {
  const as = formatOf(output) === format ? '' : ` as ${formatTitles[format]}`
  await err.tell(`Wrote ${escapeLine(output ?? '')}${as}.`)
}

const openOutput = (name: string, replaces: boolean, context: CliContext) =>
  orThrow(openPrivateFile(orThrow(resolvePath(context, name)), { replaces, pid: context.pid }))
