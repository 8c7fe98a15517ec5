import { decodeListCursor } from '@holdfast/core/ports'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { ok } from '@holdfast/protocol/result'
import type { ArgsOf, RunCommand } from '../../args/command-specs.ts'
import { deletedForever, nothingRemoved, printRemoval } from '../../render/removal.ts'
import { sessionTable } from '../../render/tables.ts'
import { checkNamed, withExistingSessions, withSessions } from '../../sessions/connect.ts'
import { readStoredList } from '../../sessions/read-list.ts'
import { latest } from '../../sessions/session-name.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { type CommandResult, exitWith, failWith, rejectUsage } from '../../terminal/exit.ts'

type Flags = ArgsOf<'trash'>['flags']

const actions = ['list', 'restore', 'empty']

export const run: RunCommand<'trash'> = async ({ positionals: [action = 'list', name], flags }, context) => {
  const error = usageError(action, name, flags)
  if (error !== null) return rejectUsage(error)
  if (action === 'restore') return restore(name ?? '', flags, context)
  return action === 'empty' ? empty(flags, context) : list(flags, context)
}

function usageError(action: string, name: string | undefined, flags: Flags): string | null {
  if (!actions.includes(action))
    return `trash has no action '${action}'.${didYouMean(action, actions) || ` Use ${actions.join(', ')}.`}`
  if (name !== undefined && action !== 'restore') return `trash ${action} takes no session.`
  if (flags['older-than'] !== undefined && action !== 'empty') return '--older-than works with trash empty only.'
  if ((flags.limit ?? flags.cursor) !== undefined && action !== 'list')
    return '--limit and --cursor work with trash list only.'
  if (flags['dry-run'] && action !== 'empty') return '--dry-run works with trash empty only.'
  if (action === 'list' && !decodeListCursor(flags.cursor).ok)
    return `--cursor must be "next" of an earlier list, not '${flags.cursor}'.`
  if (action === 'restore' && name === undefined) return 'trash restore needs <session>. holdfast trash lists them.'
  return name === latest ? `${latest} is never in the trash. holdfast trash lists the sessions that are.` : null
}

async function list({ cursor, limit = 50, json }: Flags, context: CliContext): Promise<CommandResult> {
  const listed = await readStoredList(context, { trashed: true, cursor, limit })
  if (!listed.ok) return failWith(listed.fault)
  const { sessions, next } = listed.value
  const { out, err, now } = context
  if (json) await out.writeJson(listed.value)
  else if (sessions.length > 0) await out.write(sessionTable(sessions, now(), out.paint))
  else await err.write('The trash is empty.\n')
  if (!json && next !== null) await err.write('There are more. Use --limit to list them.\n')
  return exitWith()
}

async function restore(name: string, { json }: Flags, context: CliContext): Promise<CommandResult> {
  const mayExist = checkNamed(context, name)
  if (!mayExist.ok) return failWith(mayExist.fault)
  return withSessions(context, async ({ sessions }) => {
    const restored = await sessions.restore(name)
    if (!restored.ok) return failWith(restored.fault)
    const { handle, title } = restored.value
    if (json) await context.out.writeJson({ session: restored.value })
    else {
      await context.out.write(`${handle}\n`)
      await context.err.write(`Restored ${handle}: ${escapeLine(title)}\n`)
    }
    return exitWith()
  })
}

function empty({ 'older-than': ageMs, 'dry-run': dryRun, json }: Flags, context: CliContext): Promise<CommandResult> {
  const before = ageMs === undefined ? {} : { before: new Date(context.now() - ageMs).toISOString() }
  return withExistingSessions(context, async (reached) => {
    const removal = reached ? await reached.sessions.emptyTrash({ dryRun, ...before }) : ok(nothingRemoved(dryRun))
    if (!removal.ok) return failWith(removal.fault)
    await printRemoval(removal.value, deletedForever, json, context)
    return exitWith()
  })
}
