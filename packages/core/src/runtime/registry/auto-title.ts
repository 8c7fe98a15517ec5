import type { ModelName, SessionId } from '@holdfast/protocol'
import { cleanTitle, titleRequest } from '../../context/text-request.ts'
import type { NodeDeps } from '../dependencies.ts'
import { completeObserved } from '../effects/write-text.ts'
import { findCap } from '../find-cap.ts'
import { readWindow } from '../log/read-window.ts'
import type { SessionRunner } from '../runner/session-runner.ts'
import type { SessionStores } from './session-stores.ts'

/** Lets `model` name untitled sessions, once each, after the first turn. A failure changes nothing. */
export function createAutoTitle(deps: NodeDeps, storeOf: SessionStores['storeOf'], model: ModelName) {
  /** Sessions whose first turn runs in this process. A session loaded from disk later is not named. */
  const beginning = new Set<SessionId>()
  const asking = new Set<Promise<void>>()
  const closing = new AbortController()

  async function ask(runner: SessionRunner): Promise<void> {
    const readiness = deps.models.find(model)
    if (readiness.type !== 'ready') return
    const { payer, origin } = runner.folded().state
    const spending = { payer, workspace: origin?.workdir ?? '', model }
    if (await findCap({ ...deps, store: storeOf(runner.id) }, spending)) return
    const window = await readWindow(storeOf(runner.id), runner.id, runner.folded().state)
    const options = { clock: deps.clock, signal: closing.signal, seed: `${runner.id}:title` }
    const written = await completeObserved(deps, runner.id, readiness.provider, titleRequest(model, window), options)
    if ('failed' in written) return
    const title = cleanTitle(written.text)
    if (title !== '') await runner.report({ type: 'title.written', title, model, usage: written.usage })
  }

  return {
    afterChange(runner: SessionRunner): void {
      const { turn, settings, origin } = runner.folded().state
      if (origin?.subagent) return // its task names it
      if (turn.phase !== 'idle') {
        if (turn.number === 0) beginning.add(runner.id)
        return
      }
      if (!beginning.delete(runner.id) || turn.last?.number !== 0 || settings.title !== undefined) return
      const asked: Promise<void> = ask(runner)
        .catch((cause: unknown) => deps.onProblem({ where: `naming ${runner.id}`, cause }))
        .finally(() => asking.delete(asked))
      asking.add(asked)
    },
    /** Aborts running requests and waits for their end. */
    async close(): Promise<void> {
      closing.abort()
      await Promise.all(asking)
    },
  }
}
