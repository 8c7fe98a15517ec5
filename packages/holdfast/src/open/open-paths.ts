import type { SessionRegistry } from '@holdfast/core'
import type { Permissions } from '@holdfast/core/ports'
import {
  done,
  escapeLine,
  fault,
  noWorkdir,
  ok,
  type Permission,
  type Result,
  refuse,
  type SessionHandle,
} from '@holdfast/protocol'
import type { FileAccess, PathCompleter } from '../server/define/server-parts.ts'
import { resolveGivenFolder } from '../system/files/resolve-path.ts'
import type { CompletePaths } from '../tools/search/complete-paths.ts'

type Handle = Pick<SessionHandle, 'id' | 'state'>
type Ruled = { readonly workdir: string; readonly permissions: readonly Permission[] }

/** Completes paths for the clients of a server, and checks which files they may read. */
export function openPaths(registry: SessionRegistry, complete: CompletePaths, permissions: Pick<Permissions, 'judge'>) {
  /** Returns the workdir of a session and its own rules. Refused: workdir_needed. */
  async function rulesOf(handle: Handle): Promise<Result<Ruled>> {
    const { id } = handle
    const found = await handle.state(['meta'])
    if (!found.ok) return found
    const { workspace: workdir } = found.value.meta
    if (workdir === noWorkdir) return refuse(fault('workdir_needed', 'This session has no working directory yet.'))
    const [first] = await registry.stores.storeOf(id).read(id, { after: 0, limit: 1 })
    const started = first && 'event' in first && first.event.type === 'session.started' ? first.event : null
    return ok({ workdir, permissions: started?.settings.permissions ?? [] })
  }

  const paths: PathCompleter = {
    folders: complete.folders,

    /** Completes a path in the workdir of a session, under its own rules too. Refused: workdir_needed, bad_workdir. */
    async inSession(handle, typed) {
      const ruled = await rulesOf(handle)
      return ruled.ok ? complete.inWorkdir(ruled.value, typed) : ruled
    },

    /** Completes a path in a folder, as in a new session without rules of its own. Refused: bad_workdir. */
    async inFolder(given, typed) {
      const workdir = await resolveGivenFolder(given)
      return workdir.ok ? complete.inWorkdir({ workdir: workdir.value, permissions: [] }, typed) : workdir
    },
  }

  const fileAccess: FileAccess = {
    async check(handle, path) {
      const ruled = await rulesOf(handle)
      if (!ruled.ok) return ruled
      const { workdir, permissions: own } = ruled.value
      const ruling = await permissions.judge({ tool: 'read_file', args: { path }, workdir }, own)
      if (ruling?.verdict !== 'deny' && ruling?.verdict !== 'unknown') return done
      const why = ruling.verdict === 'deny' ? 'A rule denies it to the tools' : 'The permission rules cannot be read'
      return refuse(
        fault('not_driver', `${escapeLine(path)} is not shown. ${why}, so it needs an admin token.`, { path }),
      )
    },
  }

  return { paths, fileAccess }
}
