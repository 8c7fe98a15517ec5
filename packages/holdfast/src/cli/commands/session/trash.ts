import { decodeListCursor } from '@holdfast/core/ports'
import type { Fault, Meta, Removal, SessionList } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { limits } from '@holdfast/protocol/limits'
import { orThrow } from '@holdfast/protocol/result'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { rejectAction } from '../../args/find-action.ts'
import { checkNamed, withExistingSessions, withSessions } from '../../connect/connect.ts'
import { latest } from '../../connect/session-name.ts'
import { deletedForever, nothingRemoved, printRemoval } from '../../render/removal.ts'
import { counted, printList } from '../../render/tables.ts'
import { readStoredList } from '../../sessions/read-list.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { confirm } from '../../terminal/confirm.ts'
import { type CommandResult, exitCodes, rejectUsage } from '../../terminal/exit.ts'
import type { sessionSpecs } from './specs.ts'

type Flags = ArgsOf<typeof sessionSpecs.trash>['flags']

const actions = ['list', 'restore', 'empty']

export const run: RunCommand<typeof sessionSpecs.trash> = async (
  { positionals: [action = 'list', name], flags },
  context,
) => {
  checkUsage(action, name, flags)
  if (action === 'restore') return flags.all ? restoreAll(flags, context) : restore(name ?? '', flags, context)
  return action === 'empty' ? empty(flags, context) : list(flags, context)
}

function checkUsage(action: string, name: string | undefined, flags: Flags): void {
  if (!actions.includes(action)) rejectAction('trash', action, actions)
  if (name !== undefined && action !== 'restore') rejectUsage(`trash ${action} takes no session.`)
  if (flags['older-than'] !== undefined && action !== 'empty') rejectUsage('--older-than works with trash empty only.')
  if ((flags.limit ?? flags.cursor) !== undefined && action !== 'list')
    rejectUsage('--limit and --cursor work with trash list only.')
  if (flags['dry-run'] && action !== 'empty') rejectUsage('--dry-run works with trash empty only.')
  if (action === 'list' && !decodeListCursor(flags.cursor).ok)
    rejectUsage(`--cursor must be "next" of an earlier list, not '${flags.cursor}'.`)
  if (flags.all && (action !== 'restore' || name !== undefined))
    rejectUsage('--all works with trash restore only, and without a session.')
  if (flags.yes && action !== 'empty') rejectUsage('--yes works with trash empty only.')
  if (action === 'restore' && name === undefined && !flags.all)
    rejectUsage('trash restore needs <session>, or --all. holdfast trash lists them.')
  if (name === latest) rejectUsage(`${latest} is never in the trash. holdfast trash lists the sessions that are.`)
}

async function list({ cursor, limit = 50, json }: Flags, context: CliContext): Promise<undefined> {
  const listed = await readStoredList(context, { trashed: true, cursor, limit })
  await printList(listed, json, 'The trash is empty.', context)
}

async function restore(name: string, { json }: Flags, context: CliContext): Promise<CommandResult> {
  checkNamed(context, name)
  return withSessions(context, async ({ sessions }) => {
    const restored = orThrow(await sessions.restore(name))
    const { handle, title } = restored
    if (json) await context.out.writeJson({ session: restored })
    else {
      await context.out.write(`${handle}\n`)
      await context.err.tell(`Restored ${handle}: ${escapeLine(title)}`)
    }
  })
}

/** Restores every session in the trash; goes on if one cannot be restored. */
function restoreAll({ json }: Flags, context: CliContext): Promise<CommandResult> {
  const { out, err } = context
  return withExistingSessions(context, async (reached) => {
    const restored: Meta[] = []
    const failed: Fault[] = []
    let cursor: string | null | undefined
    while (reached && cursor !== null) {
      const page: SessionList = orThrow(
        await reached.sessions.list({ trashed: true, limit: limits.listSessionsMax, ...(cursor && { cursor }) }),
      )
      for (const { id } of page.sessions) {
        const one = await reached.sessions.restore(id)
        if (one.ok) restored.push(one.value)
        else failed.push(one.fault)
      }
      cursor = page.next
    }
    if (json) await out.writeJson({ sessions: restored, failed })
    else await out.write(restored.map(({ handle }) => `${handle}\n`).join(''))
    for (const { message } of failed) await err.tell(err.paint.red(escapeLine(message)))
    await err.tell(`Restored ${counted(restored.length, 'session')}.`)
    return failed.length > 0 ? exitCodes.failed : exitCodes.ok
  })
}

/** Deletes what it named when it asked: a session that goes to the trash while the question waits stays there. */
async function empty(flags: Flags, context: CliContext): Promise<CommandResult> {
  const { 'older-than': ageMs = 0, 'dry-run': dryRun, json } = flags
  const asks = !dryRun && !flags.yes
  const before = ageMs > 0 || asks ? new Date(context.now() - ageMs).toISOString() : undefined
  return withExistingSessions(context, async (reached) => {
    if (asks && reached) {
      const found = orThrow(await reached.sessions.emptyTrash({ dryRun: true, before }))
      if (found.count > 0 && !(await confirmDeletion(found, context))) return exitCodes.failed
    }
    const removal = reached ? orThrow(await reached.sessions.emptyTrash({ dryRun, before })) : nothingRemoved(dryRun)
    await printRemoval(removal, deletedForever, json, context)
    return exitCodes.ok
  })
}

const namedMax = 10

async function confirmDeletion({ count, gone }: Removal, context: CliContext): Promise<boolean> {
  const named = gone.slice(0, namedMax).map(({ handle, title }) => `  ${handle}${title && `  ${escapeLine(title)}`}`)
  const more = count - named.length
  const names = [...named, ...(more > 0 ? [`  … and ${more} more`] : [])].join('\n')
  return confirm(
    `${names}\nDelete ${counted(count, 'session')} in the trash permanently? There is no way back.`,
    context,
  )
}
