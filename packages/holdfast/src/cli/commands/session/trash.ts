import { ageForm, parseAge } from '@holdfast/protocol/age'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { decodeListCursor } from '../../../store/list-cursor.ts'
import type { ArgsOf } from '../../args/command-specs.ts'
import { wholeNumber } from '../../args/whole-number.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { emptyWords, nothingRemoved, tellRemoval } from '../../render/print-removal.ts'
import { sessionTable } from '../../render/session-table.ts'
import { checkNamed, hasSessions, reachSessions } from '../../sessions/connect.ts'
import { readStoredList } from '../../sessions/read-list.ts'
import { latest } from '../../sessions/session-name.ts'
import { type Ended, ended, misused, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

type Args = ArgsOf<'trash'>

const limitDefault = 50
const limitMax = 1_000_000
const ways = ['list', 'restore', 'empty']

export async function trash({ words, flags }: Args, place: CliContext): Promise<Ended> {
  const [way = 'list', name] = words
  if (!ways.includes(way))
    return misused(`trash does not know '${way}'.${didYouMean(way, ways) || ' It lists, restores and empties.'}`)
  if (name !== undefined && way !== 'restore') return misused(`trash ${way} takes no session.`)
  if (flags['older-than'] !== undefined && way !== 'empty') return misused('--older-than goes with trash empty.')
  if ((flags.limit ?? flags.cursor) !== undefined && way !== 'list')
    return misused('--limit and --cursor go with trash list.')
  if (flags['dry-run'] && way !== 'empty') return misused('--dry-run goes with trash empty.')
  if (way === 'restore') return restore(name, flags, place)
  return way === 'empty' ? empty(flags, place) : list(flags, place)
}

async function list(flags: Args['flags'], place: CliContext): Promise<Ended> {
  const limit = flags.limit === undefined ? limitDefault : wholeNumber(flags.limit, 1, limitMax)
  if (limit === null) return misused(`--limit is a whole number from 1 to ${limitMax}, not '${flags.limit}'.`)
  if (!decodeListCursor(flags.cursor).ok)
    return misused(`--cursor is what an earlier list gave as its next, not '${flags.cursor}'.`)
  const listed = await readStoredList(place, { trashed: true, cursor: flags.cursor, limit })
  if (!listed.ok) return refused(listed.fault)
  const { out, err, now } = place
  if (flags.json) await out.write(`${toJsonText(listed.value)}\n`)
  else if (listed.value.sessions.length > 0) await out.write(sessionTable(listed.value.sessions, now(), out.paint))
  else await err.write('The trash is empty.\n')
  if (!flags.json && listed.value.next !== null) await err.write('There are more; --limit shows them.\n')
  return ended()
}

async function restore(name: string | undefined, flags: Args['flags'], place: CliContext): Promise<Ended> {
  if (name === undefined) return misused('trash restore needs <session>; holdfast trash lists them.')
  if (name === latest) return misused(`${latest} names no session of the trash; holdfast trash lists them.`)
  const mayExist = checkNamed(place, name)
  if (!mayExist.ok) return refused(mayExist.fault)
  const reached = await reachSessions(place)
  if (!reached.ok) return refused(reached.fault)
  try {
    const restored = await reached.value.sessions.restore(name)
    if (!restored.ok) return refused(restored.fault)
    const { handle, title } = restored.value
    if (flags.json) await place.out.write(`${toJsonText({ session: restored.value })}\n`)
    else {
      await place.out.write(`${handle}\n`)
      await place.err.write(`${handle} is back: ${escapeLine(title)}\n`)
    }
    return ended()
  } finally {
    await reached.value.close()
  }
}

async function empty(flags: Args['flags'], place: CliContext): Promise<Ended> {
  const age = flags['older-than']
  const ageMs = age === undefined ? 0 : parseAge(age)
  if (ageMs === null) return misused(`--older-than is ${ageForm}, not '${age}'.`)
  const dryRun = flags['dry-run']
  const there = hasSessions(place)
  if (!there.ok) return refused(there.fault)
  const reached = there.value ? await reachSessions(place) : null
  if (reached !== null && !reached.ok) return refused(reached.fault)
  try {
    const before = age === undefined ? {} : { before: new Date(place.now() - ageMs).toISOString() }
    const removal = reached ? await reached.value.sessions.emptyTrash({ dryRun, ...before }) : null
    if (removal !== null && !removal.ok) return refused(removal.fault)
    await tellRemoval(removal?.value ?? nothingRemoved(dryRun), emptyWords, flags.json, place)
    return ended()
  } finally {
    await reached?.value.close()
  }
}
