import { type ChildView, clip, firstLine, limits, type Meta, type SessionId } from '@holdfast/protocol'
import { openCalls, type SessionState } from '../../session/state.ts'
import { viewOf } from '../../session/view.ts'
import { outcomeOf } from './child-end.ts'

/** Returns a subagent as the clients of the sessions above it see it; null for a session that is none. */
export function childViewOf(state: SessionState, meta: Meta): ChildView | null {
  const { subagent, parent } = meta
  if (!subagent || parent === undefined) return null
  const { pendingApprovals } = viewOf(state)
  const { call, agent, depth } = subagent
  return {
    id: meta.id,
    handle: meta.handle,
    parent,
    call,
    depth,
    agent,
    task: taskPreview(meta.preview),
    ...(meta.background && { background: true }),
    model: meta.model,
    status: outcomeOf(state) ?? (pendingApprovals.length > 0 ? 'waiting' : 'running'),
    tool: openCalls(state)[0]?.tool ?? null,
    usage: meta.usage,
    pendingApprovals,
    startedAt: meta.createdAt,
  }
}

/** Returns the beginning of a task, on one line. */
export const taskPreview = (task: string): string =>
  clip(firstLine(task, limits.taskPreviewCharsMax), limits.taskPreviewCharsMax)

/** Whether two views show the same. */
export const isSameView = (one: ChildView, other: ChildView): boolean =>
  one.status === other.status &&
  one.tool === other.tool &&
  one.model === other.model &&
  one.task === other.task &&
  one.usage === other.usage &&
  one.pendingApprovals.length === other.pendingApprovals.length &&
  one.pendingApprovals.every(({ id }, index) => id === other.pendingApprovals[index]?.id)

/** Whether its work goes on. */
export const isRunning = ({ status }: Pick<ChildView, 'status'>): boolean =>
  status === 'running' || status === 'waiting'

/** Whether a session is above another in a tree. `parentOf` returns the parent of a subagent, undefined at the top. */
export function isAbove(
  parentOf: (id: SessionId) => SessionId | undefined,
  above: SessionId,
  below: SessionId,
): boolean {
  for (let id = parentOf(below); id !== undefined; id = parentOf(id)) if (id === above) return true
  return false
}
