import { resolve } from 'node:path'
import type { ArgsOf } from '../command-table.ts'
import { type Ended, ended, misused, refused } from '../ended.ts'
import type { Place } from '../place.ts'
import { openPrivateFile } from '../private-file.ts'
import { openStoredSession, type StoredSession } from '../stored-session.ts'
import { writeTranscriptJson } from '../transcript-json.ts'
import { headMarkdown, messageMarkdown } from '../transcript-markdown.ts'
import { currentDirectory } from '../workspace.ts'

const formats = ['md', 'json'] as const
type Format = (typeof formats)[number]

export async function exportSession({ words, flags }: ArgsOf<'export'>, place: Place): Promise<Ended> {
  const [name = ''] = words
  const asked = flags.format ?? (flags.json ? 'json' : 'md')
  const format = formats.find((one) => one === asked)
  if (format === undefined) return misused(`--format is md or json, not '${asked}'.`)
  if (flags.json && format !== 'json') return misused('--json and --format md exclude each other.')
  if (flags.force && flags.output === undefined) return misused('--force needs --output <file>.')

  const session = await openStoredSession(place, name)
  if (!session.ok) return refused(session.fault)
  try {
    if (flags.output !== undefined) return await toFile(session.value, format, flags.output, flags.force, place)
    await write(session.value, format, place.out.write)
    return ended()
  } finally {
    session.value.close()
  }
}

async function toFile(
  session: StoredSession,
  format: Format,
  path: string,
  replaces: boolean,
  place: Place,
): Promise<Ended> {
  const here = currentDirectory(place)
  if (!here.ok) return refused(here.fault)
  const file = openPrivateFile(resolve(here.value, path), { replaces, pid: place.pid })
  if (!file.ok) return refused(file.fault)
  try {
    await write(session, format, file.value.write)
  } catch (error) {
    file.value.drop()
    throw error
  }
  const kept = file.value.keep()
  if (!kept.ok) return refused(kept.fault)
  await place.err.write(`Wrote ${path}.\n`)
  return ended()
}

async function write(session: StoredSession, format: Format, to: (text: string) => Promise<void>): Promise<void> {
  if (format === 'json') return writeTranscriptJson(session.meta, session.pages(), null, to)
  await to(headMarkdown(session.meta))
  for await (const messages of session.pages()) await to(messages.map(messageMarkdown).join(''))
}
