import { noSuchShell, ok, parseOptions, refuse, type SessionHandle, type SessionId, ShellId } from '@holdfast/protocol'
import type { SessionRegistry } from '../registry/session-registry.ts'
import type { SessionReader } from './session-reader.ts'

/** The commands in the background of a session. Both refuse a session that does not exist. */
export function createSessionShells(
  { deps }: Pick<SessionRegistry, 'deps'>,
  id: SessionId,
  read: () => SessionReader,
): Pick<SessionHandle, 'backgroundShells' | 'stopBackgroundShell'> {
  return {
    async backgroundShells() {
      const state = await read().state(['meta'])
      return state.ok ? ok((await deps.tools.background?.list(id)) ?? []) : state
    },
    async stopBackgroundShell(given) {
      const shell = parseOptions(ShellId, given, 'stop a command')
      if (!shell.ok) return shell
      const state = await read().state(['meta'])
      if (!state.ok) return state
      return deps.tools.background?.stop(id, shell.value) ?? refuse(noSuchShell)
    },
  }
}
