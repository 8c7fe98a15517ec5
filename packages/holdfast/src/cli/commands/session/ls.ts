import { decodeListCursor } from '@holdfast/core/ports'
import type { RunCommand } from '../../args/command-specs.ts'
import { sessionTable } from '../../render/tables.ts'
import { readStoredList } from '../../sessions/read-list.ts'
import { resolveWorkspace } from '../../sessions/workspace.ts'
import { exitWith, failWith, rejectUsage } from '../../terminal/exit.ts'

/** Reads only the catalogue of the store, on this thread, to be quick. */
export const run: RunCommand<'ls'> = async ({ flags }, context) => {
  const { search, cursor, model, age, limit = 50, pinned, running } = flags
  if (!decodeListCursor(cursor).ok) return rejectUsage(`--cursor must be "next" of an earlier list, not '${cursor}'.`)
  const workspace = flags.all ? null : resolveWorkspace(context, flags.workspace)
  if (workspace !== null && !workspace.ok) return failWith(workspace.fault)

  const { out, err, now } = context
  const list = await readStoredList(context, {
    ...(workspace && { workspace: workspace.value }),
    ...(pinned && { pinned: true }),
    ...(running && { running: true }),
    activeFrom: age === undefined ? undefined : now() - age,
    ...{ search, cursor, model, limit },
  })
  if (!list.ok) return failWith(list.fault)
  const { sessions, next } = list.value
  if (flags.json) await out.writeJson(list.value)
  else if (sessions.length > 0) await out.write(sessionTable(sessions, now(), out.paint))
  else {
    const isFiltered = (search ?? model ?? age) !== undefined || pinned || running
    const where = workspace === null ? '.' : ` in ${workspace.value}. Use --all to list every workspace.`
    await err.write(`No ${isFiltered ? 'matching ' : ''}sessions${where}\n`)
  }
  if (!flags.json && next !== null) await err.write('There are more. Use --limit to list them.\n')
  return exitWith()
}
