import { orThrow } from '@holdfast/protocol/result'
import type { RunCommand } from '../../args/command-spec.ts'
import { branchTable } from '../../render/tables.ts'
import { withReadSession } from '../../sessions/stored-session.ts'
import type { sessionSpecs } from './specs.ts'

/** Reads the store, or a server, and loads no session. */
export const run: RunCommand<typeof sessionSpecs.branches> = ({ positionals: [name = ''], flags }, context) =>
  withReadSession(context, name, {}, async (session) => {
    const branches = orThrow(await session.branches())
    const { out, err, now } = context
    if (flags.json) await out.writeJson({ branches })
    else if (branches.length > 0) await out.write(branchTable(branches, now(), out))
    else await err.tell('This session has no branches.')
  })
