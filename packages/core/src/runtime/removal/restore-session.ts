import { fault, type Meta, ok, type Result, refuse } from '@holdfast/protocol'
import { findStored } from '../log/find-session.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'

/** Takes a session out of the trash. One that is not in it is fine as it is. */
export async function restoreSession(registry: SessionRegistry, name: string): Promise<Result<Meta>> {
  const { store } = registry.parts
  const id = await findStored(store, name)
  if (!id.ok) return id
  const before = await store.entry(id.value)
  const restored = await store.restore(id.value)
  if (!restored.ok) return restored
  const row = await store.entry(id.value)
  if (row === null) return refuse(fault('session_not_found', `There is no session ${name}.`, { name }))
  const session = registry.attended(row.entry.meta)
  if (before?.trashedAt != null) registry.news.tell({ type: 'session.restored', session })
  return ok(session)
}
