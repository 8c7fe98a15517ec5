import { ok } from '@holdfast/protocol/result'
import type { RunCommand } from '../../args/command-specs.ts'
import { movedToTrash, nothingRemoved, printRemoval } from '../../render/removal.ts'
import { withExistingSessions } from '../../sessions/connect.ts'
import { resolveWorkspace } from '../../sessions/workspace.ts'
import { exitWith, failWith, rejectUsage } from '../../terminal/exit.ts'

export const run: RunCommand<'prune'> = async ({ flags }, context) => {
  const { 'older-than': ageMs, 'dry-run': dryRun } = flags
  if (ageMs === undefined) return rejectUsage('prune needs --older-than <age>, for example 30d.')
  const workspace = flags.all ? null : resolveWorkspace(context, flags.workspace)
  if (workspace !== null && !workspace.ok) return failWith(workspace.fault)
  const before = new Date(context.now() - ageMs).toISOString()
  const options = { before, dryRun, ...(workspace && { workspace: workspace.value }) }
  return withExistingSessions(context, async (reached) => {
    const removal = reached ? await reached.sessions.prune(options) : ok(nothingRemoved(dryRun))
    if (!removal.ok) return failWith(removal.fault)
    await printRemoval(removal.value, movedToTrash, flags.json, context)
    return exitWith()
  })
}
