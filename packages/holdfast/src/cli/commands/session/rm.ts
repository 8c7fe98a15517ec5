import type { Fault, Removal } from '@holdfast/protocol'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { nothingRemoved, tellRemoval, trashWords } from '../../render/print-removal.ts'
import { reachText } from '../../render/removal-text.ts'
import { checkNamed, hasSessions, type ReachedSessions, reachSessions } from '../../sessions/connect.ts'
import { openNamed } from '../../sessions/session-name.ts'
import { workspaceOf } from '../../sessions/workspace.ts'
import { type Ended, ended, exitCodes, misused, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

type Flags = ArgsOf<'rm'>['flags']

export async function rm({ words, flags }: ArgsOf<'rm'>, place: CliContext): Promise<Ended> {
  const misuse = misuseOf(words, flags)
  if (misuse !== null) return misused(misuse)
  return flags.all ? clear(flags, place) : removeNamed(words, flags, place)
}

function misuseOf(words: readonly string[], { all, workspace, force }: Flags): string | null {
  if (words.length > 0 && all) return '--all takes no names: it is all of them.'
  if (words.length === 0 && !all) return 'rm needs <session>, or --all.'
  if (all && force) return '--force is for sessions that are named: --all never takes what runs or is attended.'
  return workspace !== undefined && !all ? '--workspace goes with --all.' : null
}

async function clear(flags: Flags, place: CliContext): Promise<Ended> {
  const workspace = flags.workspace === undefined ? null : workspaceOf(place, flags.workspace)
  if (workspace !== null && !workspace.ok) return refused(workspace.fault)
  const options = { dryRun: flags['dry-run'], ...(workspace && { workspace: workspace.value }) }
  const there = hasSessions(place)
  if (!there.ok) return refused(there.fault)
  const reached = there.value ? await reachSessions(place) : null
  if (reached !== null && !reached.ok) return refused(reached.fault)
  try {
    const removal = reached ? await reached.value.sessions.clearAll(options) : null
    if (removal !== null && !removal.ok) return refused(removal.fault)
    const told = removal?.value ?? nothingRemoved(options.dryRun)
    await tellRemoval(told, trashWords, flags.json, place)
    // It may reach further than whoever asked for it had in mind: say how far, and the way back.
    if (!flags.json) await place.err.write(reachText(told))
    return ended()
  } finally {
    await reached?.value.close()
  }
}

type Failed = { readonly name: string; readonly error: Fault }

/** One that cannot be removed does not keep the others. */
async function removeNamed(names: readonly string[], flags: Flags, place: CliContext): Promise<Ended> {
  for (const name of names) {
    const mayExist = checkNamed(place, name)
    if (!mayExist.ok) return refused(mayExist.fault)
  }
  const reached = await reachSessions(place)
  if (!reached.ok) return refused(reached.fault)
  try {
    return await tellNamed(await removeEach(reached.value, names, flags, place), flags, place)
  } finally {
    await reached.value.close()
  }
}

type Removed = { readonly removal: Removal; readonly failed: readonly Failed[] }

async function removeEach(
  { sessions }: ReachedSessions,
  names: readonly string[],
  flags: Flags,
  place: CliContext,
): Promise<Removed> {
  const failed: Failed[] = []
  const gone: Removal['gone'] = []
  const workspaces = new Map<string, number>()
  for (const name of names) {
    const handle = await openNamed(sessions, place, name)
    const options = { force: flags.force, dryRun: flags['dry-run'] }
    const removal = handle.ok ? await sessions.delete(handle.value.id, options) : handle
    if (!removal.ok) failed.push({ name, error: removal.fault })
    else {
      gone.push(...removal.value.gone)
      for (const { workspace, count } of removal.value.workspaces)
        workspaces.set(workspace, (workspaces.get(workspace) ?? 0) + count)
    }
  }
  const counts = [...workspaces].map(([workspace, count]) => ({ workspace, count }))
  const removal = { count: gone.length, gone, workspaces: counts, stayed: [], dryRun: flags['dry-run'] }
  return { removal, failed }
}

async function tellNamed({ removal, failed }: Removed, flags: Flags, place: CliContext): Promise<Ended> {
  const [first] = failed
  if (first && failed.length === 1 && removal.count === 0) return refused(first.error)
  if (flags.json && first) await place.out.write(`${toJsonText({ ...removal, failed })}\n`)
  else await tellRemoval(removal, trashWords, flags.json, place)
  for (const { error } of failed) await place.err.write(`${place.err.paint.red(escapeHidden(error.message))}\n`)
  return ended(first ? exitCodes.failed : exitCodes.ok)
}
