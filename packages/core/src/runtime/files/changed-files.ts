import type { BeforeImage, EventOf, FileChange, Recorded, Seq, SessionId } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol'
import type { Log } from '../../ports/store/log.ts'
import type { LeftState } from '../../ports/workspace-files.ts'
import { type RecordedChanges, settleStarted } from './interrupted-restore.ts'
import type { PathChange } from './path-change.ts'

/**
 * Reads what happened to files after a record, oldest first. Changes from before the session moved to another folder are
 * not among them: they were made there. Neither are those of a fork's parent. Those of an interrupted restore may be open.
 */
export async function readPathChanges(
  log: Pick<Log, 'read'>,
  id: SessionId,
  { after, upTo }: { readonly after: Seq; readonly upTo: Seq },
): Promise<readonly PathChange[]> {
  const pages: (readonly RecordedChanges[])[] = []
  for (let last = upTo; last > after; ) {
    const range = { after, upTo: last, limit: limits.pageRecordsMax, charsMax: limits.readCharsMax }
    const page = await log.read(id, { ...range, types: changeTypes, newestFirst: true })
    const own: Recorded[] = []
    let isStart = false
    for (const record of page) {
      if ('lost' in record) continue
      isStart = startsFolder(record)
      if (isStart) break
      own.push(record)
    }
    pages.push(own.toReversed().map(changesOf))
    const oldest = page.at(-1)
    if (isStart || oldest === undefined) break
    last = oldest.seq - 1
  }
  return settleStarted(pages.toReversed().flat())
}

/**
 * Reads the file changes of a turn's calls. Includes changes of its aborted calls that were recorded after the turn; leaves
 * out those of earlier turns that were recorded during it.
 */
export async function readTurnChanges(
  log: Pick<Log, 'read'>,
  id: SessionId,
  { after, upTo, head }: { readonly after: Seq; readonly upTo: Seq; readonly head: Seq },
): Promise<readonly PathChange[]> {
  const changes = await readPathChanges(log, id, { after, upTo })
  const later = upTo === head ? [] : await readPathChanges(log, id, { after: upTo, upTo: head })
  return [
    ...changes.filter((change) => !isFromBefore(change, after)),
    ...later.filter((change) => isFromBefore(change, upTo) && !isFromBefore(change, after)),
  ]
}

/** Whether a change was made before a record, though it was recorded after it. */
export const isFromBefore = ({ isLate, call }: PathChange, seq: Seq): boolean =>
  isLate === true && call !== null && call <= seq

const changeTypes = [
  'call.settled',
  'files.touched',
  'files.restore_started',
  'files.restored',
  'settings.changed',
  'session.started',
] as const

const startsFolder = ({ event }: Recorded): boolean =>
  event.type === 'session.started' || (event.type === 'settings.changed' && event.workdir !== undefined)

/** Returns what a record says about paths, in order. */
function changesOf({ seq, event }: Recorded): RecordedChanges {
  if (event.type === 'call.settled') return { changes: changesOfCall(seq, event) }
  if (event.type === 'files.touched')
    return {
      changes: changesOfCall(seq, event).map((change) => (change.call === null ? change : { ...change, isLate: true })),
    }
  if (event.type !== 'files.restored' && event.type !== 'files.restore_started') return { changes: [] }
  const isOpen = event.type === 'files.restore_started' ? (true as const) : undefined
  const changes = event.items.map((item): PathChange => ({ seq, call: null, ...item, isOpen }))
  return { changes, ends: event.type === 'files.restored' ? event.started : undefined }
}

const notRecorded: BeforeImage = { type: 'not_kept', why: 'its content before was not recorded' }
const absent = { type: 'absent' } as const

const changesOfCall = (
  seq: Seq,
  { call, files = [] }: EventOf<'call.settled' | 'files.touched'>,
): readonly PathChange[] =>
  files.flatMap((file): readonly PathChange[] => {
    const { path, change, from, before = change === 'created' ? absent : notRecorded, replaced = absent } = file
    const one = { seq, call: call ?? null, ...(file.during && { isDuring: true as const }) }
    if (change === 'moved' && from !== undefined)
      return [
        { ...one, path: from, before, after: absent },
        { ...one, path, before: replaced, after: leftBy(file), movedFrom: from },
      ]
    return [{ ...one, path, before, after: change === 'deleted' ? absent : leftBy(file) }]
  })

function leftBy({ change, before, after, mode, link }: FileChange): LeftState | null {
  if (after !== undefined) return { type: 'file', hash: after, mode: mode ?? null }
  if (link !== undefined) return { type: 'link', target: link }
  return change === 'moved' && before?.type === 'link' ? before : null
}
