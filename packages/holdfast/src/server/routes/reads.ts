import { type FrameOf, ok, PendingApproval, QueueEntry, Trust, trustInForce } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute, type Route } from '../route.ts'

/** One part of what a session's view shows, for whoever wants no more than that. */
function readOf(
  name: string,
  summary: string,
  schema: z.ZodType,
  pick: (snapshot: FrameOf<'snapshot'>) => unknown,
): Route {
  return defineRoute({
    method: 'GET',
    path: `/v1/sessions/:id/${name}`,
    access: 'token',
    summary,
    answers: { status: 200, mediaType: 'application/json', schema },
    async handle({ session }, { sessions }) {
      const handle = await sessions.open(session)
      if (!handle.ok) return handle
      const snapshot = await handle.value.snapshot()
      return snapshot.ok ? ok(Response.json(pick(snapshot.value))) : snapshot
    },
  })
}

export const reads: readonly Route[] = [
  readOf('queues', 'The prompts that wait', z.object({ queue: z.array(QueueEntry) }), ({ view }) => ({
    queue: view.queue,
  })),
  readOf('tool-trust', 'The standing approvals', z.object({ trust: z.array(Trust) }), (snapshot) => ({
    trust: trustInForce(snapshot),
  })),
  readOf(
    'approvals',
    'The calls that wait for a person',
    z.object({ approvals: z.array(PendingApproval) }),
    ({ view }) => ({ approvals: view.pendingApprovals }),
  ),
]
