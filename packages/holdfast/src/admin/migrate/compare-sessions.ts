import { isDeepStrictEqual } from 'node:util'
import { everyRecord, type KeptSession, type ReadOnlyStore } from '../../store/read-only-store.ts'
import { isSameRecord } from './copy-session.ts'

/** How far the target's records are the source's, one by one; null as soon as one differs or cannot be read. */
export async function commonHead(
  session: KeptSession,
  source: Pick<ReadOnlyStore, 'ownRecords'>,
  there: KeptSession,
  target: Pick<ReadOnlyStore, 'ownRecords'>,
): Promise<number | null> {
  if (there.base !== session.base || there.parent !== session.parent || there.head > session.head) return null
  const copied = everyRecord(target, there)
  for await (const record of everyRecord(source, { ...session, head: there.head })) {
    const { value } = await copied.next()
    if (!isSameRecord(record, value)) return null
  }
  return there.head
}

/** In which way two sessions differ beside their records, in words; null when they do not. */
export function differenceOf(session: KeptSession, there: KeptSession): string | null {
  if (there.head !== session.head) return `it ends at ${there.head}, not at ${session.head}`
  if (there.parent !== session.parent || there.base !== session.base) return 'it shares another past'
  if (there.isPurged !== session.isPurged) return 'it is not removed as it was'
  if (there.trashedAt !== session.trashedAt) return 'it is not in the trash as it was'
  if (there.owner !== null) return `it is still owned by ${there.owner}`
  return isDeepStrictEqual(there.entry, session.entry) ? null : 'its row in the catalogue differs'
}
