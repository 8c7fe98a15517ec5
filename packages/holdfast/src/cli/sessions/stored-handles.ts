import { limits } from '@holdfast/protocol/limits'
import { openReader } from '../../store/sqlite/read/reader.ts'
import { decodeListed } from '../../store/sqlite/rows/decode.ts'
import type { CliContext } from '../context/cli-context.ts'
import { diskStoreOf } from './resolve-store.ts'

/** The newest handles of the store file, to guess which one was meant; none where there is no such file to read at once. */
export function storedHandles(place: Pick<CliContext, 'home' | 'store'>): readonly string[] {
  const store = diskStoreOf(place)
  if (!store.ok || store.value.kind !== 'sqlite') return []
  const reader = openReader(store.value.path)
  if (!reader.ok || reader.value === null) return []
  const list = reader.value.ask('list', { limit: limits.listSessionsMax })
  reader.value.close()
  return list.ok ? list.value.sessions.map((row) => decodeListed(row).meta.handle) : []
}
