import type { PendingApproval, SessionId, TurnEnd } from '@holdfast/protocol'
import type { OnProblem } from '../../ports/observer.ts'
import type { SessionState } from '../../session/state.ts'
import { viewOf } from '../../session/view.ts'

/** What a person wants to be notified of. */
export type Notification =
  | {
      readonly type: 'approval.asked'
      readonly session: SessionId
      readonly approval: PendingApproval
      /** The subagent of the session that asks; absent if the session itself does. */
      readonly child?: SessionId | undefined
    }
  /** The session is idle again and starts nothing by itself. */
  | { readonly type: 'turn.ended'; readonly session: SessionId; readonly reason: TurnEnd }

/** A callback of the program that started the session. It cannot be recorded, so it lasts as long as the process. */
export type Notifier = (notification: Notification) => void

type Watched = {
  readonly notifier: Notifier
  /** The newest approval that was notified, of the session and of each of its subagents. */
  readonly askedUpTo: Map<SessionId, number>
  wasRunning: boolean
}

/** Calls notifiers, once for each question and each end of a turn. */
export function createNotifiers(onProblem: OnProblem) {
  const watched = new Map<SessionId, Watched>()
  function afterChange(id: SessionId, state: SessionState): void {
    const root = state.origin?.subagent?.root ?? id
    const one = watched.get(root)
    if (!one) return
    const notify = (notification: Notification) => {
      try {
        one.notifier(notification)
      } catch (cause) {
        onProblem({ where: `the notifier of ${root}`, cause })
      }
    }
    for (const approval of viewOf(state).pendingApprovals) {
      if (approval.id <= (one.askedUpTo.get(id) ?? 0)) continue
      one.askedUpTo.set(id, approval.id) // an approval id is a seq, so later ones are larger
      notify({ type: 'approval.asked', session: root, approval, ...(root !== id && { child: id }) })
    }
    if (root !== id) return // the end of its turn is no end for people
    const { turn } = state
    if (turn.phase === 'idle' && one.wasRunning && turn.last)
      notify({ type: 'turn.ended', session: id, reason: turn.last.reason })
    one.wasRunning = turn.phase !== 'idle'
  }

  return {
    afterChange,
    /** `state` is given if the session is loaded: an open question is notified at once. */
    set(id: SessionId, notifier: Notifier, state: SessionState | null): void {
      watched.set(id, { notifier, askedUpTo: new Map(), wasRunning: false })
      if (state) afterChange(id, state)
    },
  }
}
