import type { BeforeImage, EventOf, FileChange, Recorded, Seq, SessionId } from '@holdfast/protocol'
import { limits } from '@holdfast/protocol'
import type { Log } from '../../ports/log.ts'
import type { LeftState } from '../../ports/workspace-files.ts'

/** What one record says about one path: what was there before, and what is there after it. */
export type PathChange = {
  readonly seq: Seq
  /** The call that changed it; null for a restore by a person. */
  readonly call: Seq | null
  readonly path: string
  readonly before: BeforeImage
  /** Null if it is not known. */
  readonly after: LeftState | null
}

/**
 * Reads what happened to files after a record, oldest first. Changes from before the session moved to another folder are
 * not among them: they were made there. Neither are those of a fork's parent.
 */
export async function readPathChanges(
  log: Pick<Log, 'read'>,
  id: SessionId,
  { after, upTo }: { readonly after: Seq; readonly upTo: Seq },
): Promise<readonly PathChange[]> {
  const pages: (readonly PathChange[])[] = []
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
    pages.push(own.toReversed().flatMap(pathChangesOf))
    const oldest = page.at(-1)
    if (isStart || oldest === undefined) break
    last = oldest.seq - 1
  }
  return pages.toReversed().flat()
}

const changeTypes = ['call.settled', 'files.restored', 'settings.changed', 'session.started'] as const

const startsFolder = ({ event }: Recorded): boolean =>
  event.type === 'session.started' || (event.type === 'settings.changed' && event.workdir !== undefined)

/** Returns what a record says about paths, in order. */
function pathChangesOf({ seq, event }: Recorded): readonly PathChange[] {
  if (event.type === 'files.restored')
    return event.items.map(({ path, before, after }) => ({ seq, call: null, path, before, after }))
  return event.type === 'call.settled' ? changesOfCall(seq, event) : []
}

const notRecorded: BeforeImage = { type: 'not_kept', why: 'its content before was not recorded' }
const absent = { type: 'absent' } as const

const changesOfCall = (seq: Seq, { call, files = [] }: EventOf<'call.settled'>): readonly PathChange[] =>
  files.flatMap((file): readonly PathChange[] => {
    const { path, change, from, before = change === 'created' ? absent : notRecorded } = file
    const one = { seq, call }
    if (change === 'moved' && from !== undefined)
      return [
        { ...one, path: from, before, after: absent },
        { ...one, path, before: absent, after: leftBy(file) },
      ]
    return [{ ...one, path, before, after: change === 'deleted' ? absent : leftBy(file) }]
  })

function leftBy({ change, before, after, mode }: FileChange): LeftState | null {
  if (after !== undefined) return { type: 'file', hash: after, mode: mode ?? null }
  return change === 'moved' && before?.type === 'link' ? before : null
}
