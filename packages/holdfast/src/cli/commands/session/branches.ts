import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { branchTable } from '../../render/branch-table.ts'
import { openStoredSession } from '../../sessions/stored-session.ts'
import { type Ended, ended, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

/** Reads the store file, and wakes nobody. */
export async function branches({ words, flags }: ArgsOf<'branches'>, place: CliContext): Promise<Ended> {
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
