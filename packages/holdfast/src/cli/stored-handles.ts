import { limits } from '@holdfast/protocol/limits'
import { openSqliteReader } from '../store/sqlite/sqlite-reader.ts'
import type { Place } from './place.ts'

/** The newest handles of the store file, to guess which one was meant; none where there is no store to read. */
export function storedHandles({ home }: Pick<Place, 'home'>): readonly string[] {
  const reader = openSqliteReader(home.storePath)
  if (!reader.ok || reader.value === null) return []
  const list = reader.value.list({ limit: limits.listSessionsMax })
  reader.value.close()
  return list.ok ? list.value.sessions.map(({ meta }) => meta.handle) : []
}
