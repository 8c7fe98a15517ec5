import {
  type CallId,
  type ChildView,
  type FileChange,
  limits,
  type Recorded,
  type SessionId,
  type SubagentContext,
  type Trust,
} from '@holdfast/protocol'
import type { SubagentRequest } from '../../ports/guidance.ts'
import type { ToolResult } from '../../ports/tool.ts'
import type { ChildEnd } from '../../session/input.ts'
import { isAtWork, type SessionState } from '../../session/state.ts'
import type { EffectDeps, EffectRun, Subagents } from '../dependencies.ts'
import type { SessionRunner } from '../runner/session-runner.ts'
import { answerChild } from './answer-child.ts'
import { taskPreview } from './child-view.ts'
import { abortChild, lookAtChildren, waitForEnd } from './follow-child.ts'
import type { SubagentHost } from './host.ts'
import { createKnownChildren } from './known-children.ts'
import { catchUp, passOn } from './pass-on.ts'
import { admitChild, beginChild, placeBelow } from './start-child.ts'
import { contextOf } from './subagent-context.ts'
import { createTrees } from './trees.ts'

/** The subagents of the sessions of this process. */
export interface SubagentRegistry extends Subagents {
  /** Returns the subagents below a session that ran in this process, oldest first. */
  below(session: SessionId): readonly ChildView[]
  /** Call it after each change of a session. */
  afterChange(runner: SessionRunner): void
  /** Call it with the records of a session: subagents follow the mode, the boundaries and the trust above them. */
  afterRecords(session: SessionId, state: SessionState, records: readonly Recorded[]): void
  /** Call it when a session was loaded. One that waits with its parent brings the parent along, or goes to its node. */
  afterLoad(runner: SessionRunner): void
  /** Call it when a session has left this process; `isUnloaded` if it does not come back by itself. */
  afterGone(session: SessionId, isUnloaded: boolean): void
  /**
   * Unloads all subagents below a session that is about to leave this process, for the same reason. The returned function
   * ends the leaving.
   */
  leave(session: SessionId, reason: 'stopped' | 'closing'): Promise<() => void>
  /** From now on nothing is waited for: all sessions leave this process. */
  close(): void
  context(session: SessionId, state: SessionState): Promise<SubagentContext>
}

type StartedChild = { readonly error: string | null; readonly notes: readonly string[]; readonly isOnRecord: boolean }

export function createSubagents(host: SubagentHost): SubagentRegistry {
  const known = createKnownChildren(host.loaded)
  const trees = createTrees(host, known)
  const starting = new Map<SessionId, Promise<StartedChild>>()
  const leaving = new Map<SessionId, number>()
  let isClosing = false
  const isLeaving = (id: SessionId) => isClosing || leaving.has(id)
  const waitFor = (parent: SessionId, id: SessionId, signal: AbortSignal) =>
    waitForEnd(host, known, { id, parent, isLeaving }, signal)

  /** Records the start, then starts: a crash in between leaves a start without a subagent, never two of them. */
  async function start(
    deps: EffectDeps,
    call: CallId,
    request: SubagentRequest,
    run: EffectRun,
  ): Promise<{ readonly child: SessionId; readonly started: StartedChild } | { readonly refusal: string } | null> {
    const place = placeBelow(deps.session, deps.state().origin?.subagent ?? null)
    const taken = await trees.take(place.root, place.depth)
    if ('refusal' in taken) return taken
    const admitted = await admitChild(trees, deps, call, request)
    if (!admitted.ok) {
      taken.free(false)
      return { refusal: admitted.fault.message }
    }
    const { agent, background } = request
    const child = deps.newSessionId()
    const begin = async (): Promise<StartedChild> => {
      const { notes } = admitted.value
      const report = {
        type: 'child.starting',
        call,
        child,
        agent,
        task: taskPreview(request.task),
        background,
      } as const
      const recorded = await run.report(report)
      const isOnRecord = deps.state().children.some(({ session }) => session === child)
      if (!recorded.ok || !isOnRecord || run.signal.aborted)
        return { error: 'it is no longer wanted', notes, isOnRecord }
      const begun = await beginChild(host, child, admitted.value)
      if (begun.ok) await catchUp(host, child, admitted.value.state, deps.state())
      return { error: begun.ok ? null : begun.fault.message, notes, isOnRecord }
    }
    const beginning = begin().finally(() => {
      taken.free(true)
      starting.delete(child)
    })
    starting.set(child, beginning)
    return { child, started: await beginning }
  }

  async function run(deps: EffectDeps, call: CallId, request: SubagentRequest, effect: EffectRun): Promise<ToolResult> {
    const open = deps.state().children.find((one) => one.call === call)
    const begun = open ? null : await start(deps, call, request, effect)
    if (begun && 'refusal' in begun) return failed(begun.refusal)
    const child = open?.session ?? begun?.child
    if (child === undefined) return failed('The subagent was not started.')
    const { error = null, notes = [], isOnRecord = true } = begun?.started ?? {}
    if (error !== null) {
      const result = failed(`The subagent could not be started: ${error}`)
      return isOnRecord ? { ...result, child: { session: child, status: 'failed' } } : result
    }
    if (request.background) return { type: 'ok', output: { text: [startedText(host, child), ...notes].join('\n\n') } }
    const abort = () => {
      if (!isLeaving(child) && known.isAbove(deps.session, child))
        host.inBackground(`aborting ${child}`, abortChild(host, child))
    }
    effect.signal.addEventListener('abort', abort, { once: true })
    if (effect.signal.aborted) abort()
    try {
      const end = await waitFor(deps.session, child, effect.signal)
      if (end) return resultOf(child, end, notes)
      return { ...failed('aborted'), files: await filesOfAborted(deps, child) }
    } finally {
      effect.signal.removeEventListener('abort', abort)
    }
  }

  /** Returns what a subagent did to files before it was aborted. One that does not end soon is not waited for. */
  async function filesOfAborted({ session, clock }: EffectDeps, child: SessionId): Promise<readonly FileChange[]> {
    if (isLeaving(child)) return []
    const tooLong = new AbortController()
    const cancel = clock.after(limits.stopWaitMs, () => tooLong.abort())
    try {
      return (await waitFor(session, child, tooLong.signal))?.files ?? []
    } finally {
      cancel()
    }
  }

  return {
    run,
    async follow({ session }, child, signal) {
      const started = await starting.get(child)
      if (started?.error != null) return null // its call tells why
      const end = await waitFor(session, child, signal)
      return end && { type: 'child.finished', child, ...end }
    },
    look: (session, state) =>
      state.children.length === 0 ? Promise.resolve([]) : lookAtChildren(host, session, state),
    rootTrust({ origin }): readonly Trust[] {
      const root = origin?.subagent?.root
      return root === undefined ? [] : (host.loaded(root)?.folded().state.trust ?? [])
    },
    async spent(session, { origin }) {
      const root = origin?.subagent?.root ?? session
      const budgets = trees.budgets(root)
      const isTree = root !== session || known.below(root).length > 0
      if (!isTree || !budgets || (budgets.maxCost === undefined && budgets.maxTokens === undefined)) return undefined
      return { budgets, used: await trees.used(root) }
    },
    answer: (session, state, submission) => answerChild(host, known, { session, state }, submission),
    below: known.below,
    afterChange: known.afterChange,
    afterRecords: (session, state, records) => passOn(host, known, { session, state }, records),
    afterLoad(runner) {
      const { origin, turn } = runner.folded().state
      const parent = origin?.subagent ? origin.parent : null
      if (parent === null || turn.phase === 'idle' || host.loaded(parent) || isClosing) return
      host.inBackground(`loading the parent of ${runner.id}`, joinParent(host, runner, parent))
    },
    afterGone(session, isUnloaded) {
      known.afterGone(session, isUnloaded)
      if (isUnloaded) trees.forget(session)
    },
    async leave(session, reason) {
      const all = known.below(session).map(({ id }) => id)
      for (const id of all) leaving.set(id, (leaving.get(id) ?? 0) + 1)
      await Promise.all(all.map((id) => host.unload(id, reason)))
      return () => {
        for (const id of all) {
          const left = (leaving.get(id) ?? 1) - 1
          if (left > 0) leaving.set(id, left)
          else leaving.delete(id)
        }
      }
    },
    close() {
      isClosing = true
    },
    context: (session, state) => contextOf(trees, session, state),
  }
}

/**
 * Loads the parent of a subagent. If another node has the parent, a subagent that only waits for a person goes there too:
 * the parent shows its questions, and passes the answers on.
 */
async function joinParent(host: SubagentHost, runner: SessionRunner, parent: SessionId): Promise<void> {
  const loaded = await host.load(parent)
  if (loaded.ok || loaded.fault.code !== 'session_locked') return
  const isHere = host.loaded(runner.id) === runner
  if (isHere && !isAtWork(runner.folded().state)) await host.unload(runner.id, 'closing')
}

const failed = (text: string): ToolResult => ({ type: 'failed', output: { text } })

function startedText(host: SubagentHost, child: SessionId): string {
  const handle = host.loaded(child)?.folded().row.entry.meta.handle ?? child
  return `Subagent ${handle} works in the background. Its result will come as a message when it is done: do not wait for it, and do not ask for it.`
}

/** Returns the result of a call that has waited for a subagent. */
function resultOf(child: SessionId, { status, output, files }: ChildEnd, notes: readonly string[]): ToolResult {
  const text = [output.text, ...notes].join('\n\n')
  return {
    type: status === 'completed' ? 'ok' : 'failed',
    output: { ...output, text },
    child: { session: child, status },
    files,
  }
}
