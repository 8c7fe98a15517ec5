import { resolve } from 'node:path'
import {
  fault,
  ok,
  parseKey,
  parseSessionName,
  type Result,
  refuse,
  SessionId,
  sessionNotFound,
} from '@holdfast/protocol'
import type { Catalogue, CatalogueRow } from '../../ports/store/catalogue.ts'
import type { RuntimeDeps } from '../dependencies.ts'

type Finder = Pick<Catalogue, 'find' | 'entry'>

/** Finds the one session that a name means, in the trash or not. A malformed name is refused without a look-up. */
export async function findStored({ find }: Pick<Catalogue, 'find'>, name: string): Promise<Result<SessionId>> {
  const asked = parseSessionName(name)
  if (!asked.ok) return asked
  const found = await find(asked.value)
  const [id, another] = found
  if (!id) return refuse(sessionNotFound(name))
  if (!another) return ok(id)
  const message = `"${name}" is ambiguous (${found.length}+ matches). Use a longer prefix.`
  return refuse(fault('bad_id', message, { name, fits: [...found] }))
}

/** Finds the one session that a name means, to open it. Refused: bad_id, session_not_found, session_trashed. */
export async function findSession(finder: Finder, name: string): Promise<Result<SessionId>> {
  const known = SessionId.safeParse(name)
  // A complete id needs no search: its row has everything.
  const id = known.success ? ok(known.data) : await findStored(finder, name)
  if (!id.ok) return id
  const row = await finder.entry(id.value)
  return row === null ? refuse(sessionNotFound(name)) : outOfTrash(id.value, row)
}

/** Finds the session with an embedding program's key. Refused: bad_id, session_trashed. */
export async function findByKey(finder: Finder, name: string): Promise<Result<SessionId | null>> {
  const key = parseKey(name)
  if (!key.ok) return key
  const [id] = await finder.find({ type: 'key', key: key.value })
  const row = id === undefined ? null : await finder.entry(id)
  return id === undefined || row === null ? ok(null) : outOfTrash(id, row)
}

function outOfTrash(id: SessionId, { entry, trashedAt }: CatalogueRow): Result<SessionId> {
  if (trashedAt === null) return ok(id)
  const { handle } = entry.meta
  const message = `Session ${handle} is in the trash. \`holdfast trash restore ${handle}\` takes it out.`
  return refuse(fault('session_trashed', message, { session: id, handle }))
}

/**
 * Returns the workspace that a path names, however it is written: the real path, or the absolute one of a folder that is
 * gone. An empty path names the sessions without a folder.
 */
export async function findWorkspace(
  { resolveWorkdir }: Pick<RuntimeDeps, 'resolveWorkdir'>,
  path: string,
): Promise<string> {
  if (path === '') return path
  const real = await resolveWorkdir(path)
  return real.ok ? real.value : resolve(path)
}

/** Replaces the workspace of a filter, if it has one, by the path that sessions are stored with. */
export const withWorkspace = async <Options extends { readonly workspace?: string | undefined }>(
  deps: Pick<RuntimeDeps, 'resolveWorkdir'>,
  options: Options,
): Promise<Options> =>
  options.workspace === undefined ? options : { ...options, workspace: await findWorkspace(deps, options.workspace) }
