import type { LiveView } from '@holdfast/client'

/** Where a person read: the first message in sight, and how far its row was above the top. */
export type ReadingPlace = { readonly message: number; readonly abovePx: number }

/** Sessions whose place is kept. */
const keptMax = 16
const kept = new Map<string, ReadingPlace>()

/** Keeps the place of a session, or forgets it if the person was at its end. */
export function keepPlace(session: string, place: ReadingPlace | null): void {
  kept.delete(session)
  if (place === null) return
  kept.set(session, place)
  for (const oldest of kept.keys()) {
    if (kept.size <= keptMax) break
    kept.delete(oldest)
  }
}

export const placeOf = (session: string): ReadingPlace | null => kept.get(session) ?? null

/** Loads older pages until a message is loaded. Returns false if it is not part of this line. */
export async function loadTo(live: LiveView, message: number): Promise<boolean> {
  while (!live.messages.some(({ id }) => id === message)) {
    const oldest = live.messages[0]?.id ?? 0
    if (message > oldest || !live.hasOlder || !(await live.loadOlder()).ok) return false
  }
  return true
}
