import type { SessionRegistry } from '@holdfast/core'
import type { SessionHandle } from '@holdfast/protocol'
import { type FoundPaths, fault, noWorkdir, type Result, refuse } from '@holdfast/protocol'
import type { CompleteOptions, CompletePaths } from './tools/search/complete-paths.ts'

/** Completes paths for the clients of a server. */
export function openPaths(registry: SessionRegistry, complete: CompletePaths) {
  return {
    folders: complete.folders,

    /** Completes a path in the workdir of a session, under its own rules too. Refused: workdir_needed, bad_workdir. */
    async inSession(handle: Pick<SessionHandle, 'id' | 'state'>, typed: CompleteOptions): Promise<Result<FoundPaths>> {
      const { id } = handle
      const state = await handle.state(['meta'])
      if (!state.ok) return state
      const { workspace: workdir } = state.value.meta
      if (workdir === noWorkdir) return refuse(fault('workdir_needed', 'This session has no working directory yet.'))
      const [first] = await registry.stores.storeOf(id).read(id, { after: 0, limit: 1 })
      const started = first && 'event' in first && first.event.type === 'session.started' ? first.event : null
      return complete.inWorkdir({ workdir, permissions: started?.settings.permissions }, typed)
    },
  }
}
