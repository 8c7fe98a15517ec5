import type { SessionList } from '@holdfast/protocol'
import { ageForm, parseAge } from '@holdfast/protocol/age'
import { decodeListCursor } from '../../../store/list-cursor.ts'
import type { ArgsOf } from '../../args/command-specs.ts'
import { wholeNumber } from '../../args/whole-number.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { sessionTable } from '../../render/session-table.ts'
import { readStoredList } from '../../sessions/read-list.ts'
import { workspaceOf } from '../../sessions/workspace.ts'
import { type Ended, ended, misused, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

const limitDefault = 50
const limitMax = 1_000_000

/** Reads the catalogue of the store, on this thread, and nothing else: it has to be quick. */
export async function ls({ flags }: ArgsOf<'ls'>, place: CliContext): Promise<Ended> {
  if (flags.all && flags.workspace !== undefined) return misused('--all and --workspace exclude each other.')
  const limit = flags.limit === undefined ? limitDefault : wholeNumber(flags.limit, 1, limitMax)
  if (limit === null) return misused(`--limit is a whole number from 1 to ${limitMax}, not '${flags.limit}'.`)
  if (!decodeListCursor(flags.cursor).ok)
    return misused(`--cursor is what an earlier list gave as its next, not '${flags.cursor}'.`)
  const ageMs = flags.age === undefined ? null : parseAge(flags.age)
  if (flags.age !== undefined && ageMs === null) return misused(`--age is ${ageForm}, not '${flags.age}'.`)
  const workspace = flags.all ? null : workspaceOf(place, flags.workspace)
  if (workspace !== null && !workspace.ok) return refused(workspace.fault)

  const { search, cursor, model } = flags
  const activeFrom = ageMs === null ? undefined : place.now() - ageMs
  const filters = { model, activeFrom, ...(flags.pinned && { pinned: true }), ...(flags.running && { running: true }) }
  const list = await readStoredList(place, {
    ...filters,
    ...(workspace && { workspace: workspace.value }),
    ...{ search, cursor, limit },
  })
  if (!list.ok) return refused(list.fault)
  const isFiltered = [search, model, flags.age].some((given) => given !== undefined) || flags.pinned || flags.running
  const where = workspace === null ? null : workspace.value
  await tellList(list.value, { isJson: flags.json, where, isFiltered }, place)
  return ended()
}

type Told = { readonly isJson: boolean; readonly where: string | null; readonly isFiltered: boolean }

async function tellList(
  list: SessionList,
  { isJson, where, isFiltered }: Told,
  { out, err, now }: CliContext,
): Promise<void> {
  if (isJson) return out.write(`${toJsonText(list)}\n`)
  if (list.sessions.length > 0) await out.write(sessionTable(list.sessions, now(), out.paint))
  else {
    const what = isFiltered ? 'No sessions that fit' : 'No sessions'
    const place = where === null ? '' : ` in ${where}; --all lists those of every workspace`
    await err.write(`${what}${place}.\n`)
  }
  if (list.next !== null) await err.write(`There are more; --limit shows them.\n`)
}
