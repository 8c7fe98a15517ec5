import type { Fault, Removal, Sessions } from '@holdfast/protocol'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { ArgsOf, RunCommand } from '../../args/command-specs.ts'
import { movedToTrash, nothingRemoved, printRemoval, printWorkspaces } from '../../render/removal.ts'
import { checkNamed, withExistingSessions, withSessions } from '../../sessions/connect.ts'
import { openNamed } from '../../sessions/session-name.ts'
import { resolveWorkspace } from '../../sessions/workspace.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { type CommandResult, exitCodes, failWith, rejectUsage } from '../../terminal/exit.ts'

type Flags = ArgsOf<'rm'>['flags']

export const run: RunCommand<'rm'> = async ({ positionals: names, flags }, context) => {
  checkUsage(names, flags)
  return flags.all ? removeAll(flags, context) : removeNamed(names, flags, context)
}

function checkUsage(names: readonly string[], { all, workspace, force }: Flags): void {
  if (names.length > 0 && all) rejectUsage('Use either --all or session names, not both.')
  if (names.length === 0 && !all) rejectUsage('rm needs <session>, or --all.')
  if (all && force)
    rejectUsage('--force works with session names only. --all never removes running or attached sessions.')
  if (workspace !== undefined && !all) rejectUsage('--workspace works with --all only.')
}

async function removeAll(flags: Flags, context: CliContext): Promise<CommandResult> {
  const dryRun = flags['dry-run']
  const workspace = flags.workspace === undefined ? undefined : orThrow(resolveWorkspace(context, flags.workspace))
  return withExistingSessions(context, async (reached) => {
    const removal = reached ? orThrow(await reached.sessions.clearAll({ dryRun, workspace })) : nothingRemoved(dryRun)
    await printRemoval(removal, movedToTrash, flags.json, context)
    // It may remove more than the user had in mind, so print how far it reached and the way back.
    if (!flags.json) await printWorkspaces(removal, context)
  })
}

async function removeNamed(names: readonly string[], flags: Flags, context: CliContext): Promise<CommandResult> {
  for (const name of names) checkNamed(context, name)
  return withSessions(context, async ({ sessions }) =>
    printNamed(await removeEach(sessions, names, flags, context), flags, context),
  )
}

type Removed = {
  readonly removal: Removal
  readonly failed: readonly { readonly name: string; readonly error: Fault }[]
}

/** Removes each session; goes on if one cannot be removed. */
async function removeEach(
  sessions: Sessions,
  names: readonly string[],
  { force, 'dry-run': dryRun }: Flags,
  context: CliContext,
): Promise<Removed> {
  const failed: Removed['failed'][number][] = []
  const gone: Removal['gone'] = []
  const counts = new Map<string, number>()
  for (const name of names) {
    const handle = await openNamed(sessions, context, name)
    const removal = handle.ok ? await sessions.delete(handle.value.id, { force, dryRun }) : handle
    if (!removal.ok) {
      failed.push({ name, error: removal.fault })
      continue
    }
    gone.push(...removal.value.gone)
    for (const { workspace, count } of removal.value.workspaces)
      counts.set(workspace, (counts.get(workspace) ?? 0) + count)
  }
  const workspaces = [...counts].map(([workspace, count]) => ({ workspace, count }))
  return { removal: { count: gone.length, gone, workspaces, stayed: [], dryRun }, failed }
}

async function printNamed({ removal, failed }: Removed, flags: Flags, context: CliContext): Promise<CommandResult> {
  const { out, err } = context
  const [first] = failed
  if (first && failed.length === 1 && removal.count === 0) return failWith(first.error)
  if (flags.json && first) await out.writeJson({ ...removal, failed })
  else await printRemoval(removal, movedToTrash, flags.json, context)
  for (const { error } of failed) await err.write(`${err.paint.red(escapeHidden(error.message))}\n`)
  return first ? exitCodes.failed : exitCodes.ok
}
