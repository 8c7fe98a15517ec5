import { transcriptJson } from '../../../transfer/export/json.ts'
import type { ArgsOf } from '../../args/command-specs.ts'
import { wholeNumber } from '../../args/whole-number.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { headText, messageText } from '../../render/transcript-text.ts'
import { openStoredSession, type StoredSession } from '../../sessions/stored-session.ts'
import { type Ended, ended, misused, refused } from '../../terminal/exit.ts'

const limitMax = 1_000_000

export async function show({ words, flags }: ArgsOf<'show'>, place: CliContext): Promise<Ended> {
  const [name = ''] = words
  const limit = flags.limit === undefined ? null : wholeNumber(flags.limit, 1, limitMax)
  if (flags.limit !== undefined && limit === null)
    return misused(`--limit is a whole number from 1 to ${limitMax}, not '${flags.limit}'.`)
  const session = await openStoredSession(place, name, { branch: flags.branch })
  if (!session.ok) return refused(session.fault)
  try {
    await tell(session.value, limit, flags.json, place)
    return ended()
  } finally {
    await session.value.close()
  }
}

async function tell(
  session: StoredSession,
  limit: number | null,
  isJson: boolean,
  { out, err }: CliContext,
): Promise<void> {
  const newest = limit === null ? null : await session.newest(limit)
  const pages = newest === null ? session.pages() : [newest.messages]
  const before = newest?.before ?? null
  if (isJson) for await (const text of transcriptJson(session.meta, pages, before)) await out.write(text)
  else {
    await out.write(headText(session.meta, out.paint))
    if (before !== null) await out.write(out.paint.dim('\n… older messages are not shown …\n'))
    for await (const messages of pages) await out.write(messages.map((one) => messageText(one, out.paint)).join(''))
  }
  if (session.lost.length > 0) await err.write(`${session.lost.length} records of this session cannot be read.\n`)
}
