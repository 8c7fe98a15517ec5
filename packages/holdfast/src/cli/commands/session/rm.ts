import type { Fault, Removal, Result, Sessions } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { checkNamed, withExistingSessions, withSessions } from '../../connect/connect.ts'
import { openNamed } from '../../connect/session-name.ts'
import { resolveWorkspace } from '../../connect/workspace.ts'
import { deletedForever, movedToTrash, nothingRemoved, printRemoval, printWorkspaces } from '../../render/removal.ts'
import { counted } from '../../render/tables.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { confirm } from '../../terminal/confirm.ts'
import { type CommandResult, exitCodes, failWith, rejectUsage } from '../../terminal/exit.ts'
import type { sessionSpecs } from './specs.ts'

type Flags = ArgsOf<typeof sessionSpecs.rm>['flags']

export const run: RunCommand<typeof sessionSpecs.rm> = async ({ positionals: names, flags }, context) => {
  checkUsage(names, flags)
  return flags.all ? removeAll(flags, context) : removeNamed(names, flags, context)
}

function checkUsage(names: readonly string[], { all, workspace, forever, yes }: Flags): void {
  if (names.length > 0 && all) rejectUsage('Use either --all or session names, not both.')
  if (names.length === 0 && !all) rejectUsage('rm needs <session>, or --all.')
  if (all && forever) rejectUsage('--forever works with session names only. Use rm --all, then trash empty.')
  if (yes && !forever) rejectUsage('--yes works with --forever only.')
  if (workspace !== undefined && !all) rejectUsage('--workspace works with --all only.')
}

async function removeAll(flags: Flags, context: CliContext): Promise<CommandResult> {
  const dryRun = flags['dry-run']
  const workspace = flags.workspace === undefined ? undefined : orThrow(resolveWorkspace(context, flags.workspace))
  return withExistingSessions(context, async (reached) => {
    const options = { dryRun, workspace, force: flags.force }
    const removal = reached ? orThrow(await reached.sessions.clearAll(options)) : nothingRemoved(dryRun)
    await printRemoval(removal, movedToTrash, flags.json, context)
    // It may remove more than the user had in mind, so print how far it reached and the way back.
    if (!flags.json) await printWorkspaces(removal, context)
  })
}

/** Removes each session; goes on if one cannot be removed. */
async function removeNamed(names: readonly string[], flags: Flags, context: CliContext): Promise<CommandResult> {
  const { force, forever, 'dry-run': dryRun, json } = flags
  for (const name of names) checkNamed(context, name)
  return withSessions(context, async ({ sessions }) => {
    const failed: { readonly name: string; readonly error: Fault }[] = []
    const removed: Removal[] = []
    const asks = forever && !dryRun && !flags.yes
    // Found before the question: @latest may be another session once it is answered.
    const found = asks ? await findNamed(sessions, context, names) : names.map((name) => ({ name, shown: name }))
    if (asks && !(await confirm(deletionQuestion(found), context))) return exitCodes.failed
    for (const { name } of found) {
      const removal = await removeOne(sessions, context, name, { force, forever, dryRun })
      if (removal.ok) removed.push(removal.value)
      else failed.push({ name, error: removal.fault })
    }
    const total = { ...nothingRemoved(dryRun), ...sumOf(removed) }
    const [first] = failed
    if (first && failed.length === 1 && total.count === 0) return failWith(first.error)
    const { out, err } = context
    if (json && first) await out.writeJson({ ...total, failed })
    else await printRemoval(total, forever ? deletedForever : movedToTrash, json, context)
    for (const { error } of failed) await err.tell(err.paint.red(escapeHidden(error.message)))
    return first ? exitCodes.failed : exitCodes.ok
  })
}

type NamedSession = { readonly name: string; readonly shown: string }

/** Finds the sessions that the names mean now. One that cannot be opened keeps its name. */
const findNamed = (sessions: Sessions, context: CliContext, names: readonly string[]): Promise<NamedSession[]> =>
  Promise.all(
    names.map(async (name) => {
      const handle = await openNamed(sessions, context, name)
      const state = handle.ok ? await handle.value.state(['meta']) : handle
      if (!handle.ok || !state.ok) return { name, shown: name }
      const { handle: short, title } = state.value.meta
      return { name: handle.value.id, shown: title ? `${short} (${escapeLine(title)})` : short }
    }),
  )

const deletionQuestion = (found: readonly NamedSession[]): string =>
  `Delete ${found.length === 1 ? found[0]?.shown : counted(found.length, 'session')} permanently? There is no way back.`

type RemoveOptions = { readonly force: boolean; readonly forever: boolean; readonly dryRun: boolean }

async function removeOne(
  sessions: Sessions,
  context: CliContext,
  name: string,
  { force, forever, dryRun }: RemoveOptions,
): Promise<Result<Removal>> {
  const handle = await openNamed(sessions, context, name)
  // A session in the trash cannot be opened, but it can be deleted.
  if (forever && !handle.ok && handle.fault.code === 'session_trashed') return sessions.purge(name, { force, dryRun })
  if (!handle.ok) return handle
  const { id } = handle.value
  return forever ? sessions.purge(id, { force, dryRun }) : sessions.delete(id, { force, dryRun })
}

function sumOf(removed: readonly Removal[]): Pick<Removal, 'count' | 'gone' | 'workspaces'> {
  const gone = removed.flatMap((one) => one.gone)
  const counts = Map.groupBy(
    removed.flatMap((one) => one.workspaces),
    ({ workspace }) => workspace,
  )
  const workspaces = [...counts].map(([workspace, all]) => ({
    workspace,
    count: all.reduce((sum, one) => sum + one.count, 0),
  }))
  return { count: gone.length, gone, workspaces }
}
