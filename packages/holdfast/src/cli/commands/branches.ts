import { branchTable } from '../branch-table.ts'
import type { ArgsOf } from '../command-table.ts'
import { type Ended, ended, refused } from '../ended.ts'
import { toJsonText } from '../json-text.ts'
import type { Place } from '../place.ts'
import { openStoredSession } from '../stored-session.ts'

/** Reads the store file, and wakes nobody. */
export async function branches({ words, flags }: ArgsOf<'branches'>, place: Place): Promise<Ended> {
  const [name = ''] = words
  const session = await openStoredSession(place, name)
  if (!session.ok) return refused(session.fault)
  try {
    const listed = await session.value.branches()
    if (!listed.ok) return refused(listed.fault)
    const { out, err, now } = place
    if (flags.json) await out.write(`${toJsonText({ branches: listed.value })}\n`)
    else if (listed.value.length > 0) await out.write(branchTable(listed.value, now(), out.paint))
    else await err.write('No branches: no line of this session was ever left.\n')
    return ended()
  } finally {
    await session.value.close()
  }
}
