import { limits, type SessionId } from '@holdfast/protocol'
import type { NodeDeps } from '../dependencies.ts'
import type { SessionRunner } from '../runner/session-runner.ts'
import { createAutoTitle } from './auto-title.ts'
import { createIdleUnloader } from './idle-unloader.ts'
import { createNotifiers } from './notifiers.ts'
import type { SessionStores } from './session-stores.ts'

/** Creates what follows each change of a session: its idle timer, its notifier and its title. */
export function createWatchers(deps: NodeDeps, { storeOf }: SessionStores, unloadIdle: (id: SessionId) => void) {
  const { clock, idleUnloadMs = limits.idleUnloadMs, titleModel } = deps
  const idleUnloader = createIdleUnloader(
    { clock, idleMs: idleUnloadMs, background: deps.tools.background },
    unloadIdle,
  )
  const notifiers = createNotifiers(deps.onProblem)
  const autoTitle = titleModel === undefined ? null : createAutoTitle(deps, storeOf, titleModel)
  return {
    idleUnloader,
    notifiers,
    autoTitle,
    afterChange(runner: SessionRunner): void {
      idleUnloader.afterChange(runner)
      notifiers.afterChange(runner.id, runner.folded().state)
      autoTitle?.afterChange(runner)
    },
  }
}
