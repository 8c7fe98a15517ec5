import { decodeListCursor } from '@holdfast/core/ports'
import { orThrow } from '@holdfast/protocol/result'
import type { RunCommand } from '../../args/command-spec.ts'
import { resolveWorkspace } from '../../connect/workspace.ts'
import { printList } from '../../render/tables.ts'
import { readStoredList } from '../../sessions/read-list.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import { withPager } from '../../terminal/pager.ts'
import type { sessionSpecs } from './specs.ts'

/** Reads only the catalogue of the store, on this thread, to be quick. */
export const run: RunCommand<typeof sessionSpecs.ls> = async ({ flags }, context) => {
  const { search, cursor, model, age, limit = 50, pinned, running, waiting } = flags
  if (!decodeListCursor(cursor).ok) return rejectUsage(`--cursor must be "next" of an earlier list, not '${cursor}'.`)
  const workspace = flags.all ? undefined : orThrow(resolveWorkspace(context, flags.workspace))
  const list = await readStoredList(context, {
    workspace,
    search,
    cursor,
    model,
    limit,
    ...(pinned && { pinned: true }),
    ...(running && { running: true }),
    ...(waiting && { waiting: true, subagents: true }),
    activeFrom: age === undefined ? undefined : context.now() - age,
  })
  const isFiltered = (search ?? model ?? age) !== undefined || pinned || running || waiting
  const where = workspace === undefined ? '.' : ` in ${workspace}. Use --all to list every workspace.`
  const none = `No ${isFiltered ? 'matching ' : ''}sessions${where}`
  await withPager(context, (out) => printList(list, flags.json, none, { ...context, out }, flags.utc))
}
