import { orThrow } from '@holdfast/protocol/result'
import type { RunCommand } from '../../args/command-spec.ts'
import { withExistingSessions } from '../../connect/connect.ts'
import { resolveWorkspace } from '../../connect/workspace.ts'
import { movedToTrash, nothingRemoved, printRemoval } from '../../render/removal.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import type { sessionSpecs } from './specs.ts'

export const run: RunCommand<typeof sessionSpecs.prune> = async ({ flags }, context) => {
  const { 'older-than': ageMs, 'dry-run': dryRun } = flags
  if (ageMs === undefined) return rejectUsage('prune needs --older-than <age>, for example 30d.')
  const workspace = flags.all ? undefined : orThrow(resolveWorkspace(context, flags.workspace))
  const before = new Date(context.now() - ageMs).toISOString()
  const options = { before, dryRun, workspace }
  return withExistingSessions(context, async (reached) => {
    const removal = reached ? orThrow(await reached.sessions.prune(options)) : nothingRemoved(dryRun)
    await printRemoval(removal, movedToTrash, flags.json, context)
  })
}
