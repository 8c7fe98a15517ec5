import { ageForm, parseAge } from '@holdfast/protocol/age'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { nothingRemoved, tellRemoval, trashWords } from '../../render/print-removal.ts'
import { hasSessions, reachSessions } from '../../sessions/connect.ts'
import { workspaceOf } from '../../sessions/workspace.ts'
import { type Ended, ended, misused, refused } from '../../terminal/exit.ts'

export async function prune({ flags }: ArgsOf<'prune'>, place: CliContext): Promise<Ended> {
  if (flags.all && flags.workspace !== undefined) return misused('--all and --workspace exclude each other.')
  const age = flags['older-than']
  if (age === undefined) return misused('prune needs --older-than <age>, for example 30d.')
  const ageMs = parseAge(age)
  if (ageMs === null) return misused(`--older-than is ${ageForm}, not '${age}'.`)
  const workspace = flags.all ? null : workspaceOf(place, flags.workspace)
  if (workspace !== null && !workspace.ok) return refused(workspace.fault)

  const dryRun = flags['dry-run']
  const there = hasSessions(place)
  if (!there.ok) return refused(there.fault)
  const reached = there.value ? await reachSessions(place) : null
  if (reached !== null && !reached.ok) return refused(reached.fault)
  try {
    const before = new Date(place.now() - ageMs).toISOString()
    const options = { before, dryRun, ...(workspace && { workspace: workspace.value }) }
    const removal = reached ? await reached.value.sessions.prune(options) : null
    if (removal !== null && !removal.ok) return refused(removal.fault)
    await tellRemoval(removal?.value ?? nothingRemoved(dryRun), trashWords, flags.json, place)
    return ended()
  } finally {
    await reached?.value.close()
  }
}
