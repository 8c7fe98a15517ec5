import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { openFileBlobs } from '../../../store/blobs/file-blobs.ts'
import {
  type ExportFormat,
  type ExportOptions,
  exportFormats,
  exportSession as pieces,
} from '../../../transfer/export/export-session.ts'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { openStoredSession, type StoredSession } from '../../sessions/stored-session.ts'
import { currentDirectory } from '../../sessions/workspace.ts'
import { type Ended, ended, misused, refused } from '../../terminal/exit.ts'
import { openPrivateFile } from '../../terminal/private-file.ts'

export async function exportSession({ words, flags }: ArgsOf<'export'>, place: CliContext): Promise<Ended> {
  const [name = ''] = words
  const asked = flags.format ?? (flags.json ? 'json' : 'md')
  const format = exportFormats.find((one) => one === asked)
  if (format === undefined) return misused(`--format is md, html, json or jsonl, not '${asked}'.`)
  if (flags.json && format !== 'json') return misused(`--json and --format ${format} exclude each other.`)
  if (flags.force && flags.output === undefined) return misused('--force needs --output <file>.')

  const session = await openStoredSession(place, name)
  if (!session.ok) return refused(session.fault)
  const options = { format, redact: flags.redact }
  try {
    if (flags.output !== undefined) return await toFile(session.value, options, flags.output, flags.force, place)
    await write(session.value, options, place, place.out.write)
    return ended()
  } finally {
    await session.value.close()
  }
}

async function toFile(
  session: StoredSession,
  options: ExportOptions,
  path: string,
  replaces: boolean,
  place: CliContext,
): Promise<Ended> {
  const here = currentDirectory(place)
  if (!here.ok) return refused(here.fault)
  const file = openPrivateFile(resolve(here.value, path), { replaces, pid: place.pid })
  if (!file.ok) return refused(file.fault)
  try {
    await write(session, options, place, file.value.write)
  } catch (error) {
    file.value.drop()
    throw error
  }
  const kept = file.value.keep()
  if (!kept.ok) return refused(kept.fault)
  await place.err.write(`Wrote ${path}.\n`)
  return ended()
}

async function write(
  session: StoredSession,
  options: ExportOptions,
  place: CliContext,
  to: (text: string) => Promise<void>,
): Promise<void> {
  const blobs = await blobsFor(options.format, session)
  for await (const text of pieces({ ...session, blobs }, options)) await to(text)
  if (session.lost.length > 0) await place.err.write(`${session.lost.length} records of this session cannot be read.\n`)
}

/** Only a form without loss holds files; where none were ever kept, nothing is made. */
async function blobsFor(format: ExportFormat | undefined, { blobsDir }: StoredSession) {
  if (format !== 'jsonl' || !existsSync(blobsDir)) return null
  const blobs = await openFileBlobs(blobsDir)
  return blobs.ok ? blobs.value : null
}
