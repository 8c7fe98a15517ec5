import type { RunCommand } from '../../args/command-specs.ts'
import { branchTable } from '../../render/tables.ts'
import { withStoredSession } from '../../sessions/stored-session.ts'
import { exitWith, failWith } from '../../terminal/exit.ts'

/** Reads the store and wakes no session. */
export const run: RunCommand<'branches'> = ({ positionals: [name = ''], flags }, context) =>
  withStoredSession(context, name, {}, async (session) => {
    const branches = await session.branches()
    if (!branches.ok) return failWith(branches.fault)
    const { out, err, now } = context
    if (flags.json) await out.writeJson({ branches: branches.value })
    else if (branches.value.length > 0) await out.write(branchTable(branches.value, now(), out.paint))
    else await err.write('This session has no branches.\n')
    return exitWith()
  })
