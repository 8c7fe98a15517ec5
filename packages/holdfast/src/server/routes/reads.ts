import { type FrameOf, ListedBranch, listActiveTrust, ok, PendingApproval, QueueEntry, Trust } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute, type Route } from '../http/route.ts'

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

const getBranches = defineRoute({
  method: 'GET',
  path: '/v1/sessions/:id/branches',
  access: 'token',
  summary: 'The lines that were left and kept, oldest first',
  answers: { status: 200, mediaType: 'application/json', schema: z.object({ branches: z.array(ListedBranch) }) },
  async handle({ session }, { sessions }) {
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const branches = await handle.value.branches()
    return branches.ok ? ok(Response.json({ branches: branches.value })) : branches
  },
})

export const reads: readonly Route[] = [
  getBranches,
  readOf('queues', 'The prompts that wait', z.object({ queue: z.array(QueueEntry) }), ({ view }) => ({
    queue: view.queue,
  })),
  readOf('tool-trust', 'The standing approvals', z.object({ trust: z.array(Trust) }), (snapshot) => ({
    trust: listActiveTrust(snapshot),
  })),
  readOf(
    'approvals',
    'The calls that wait for a person',
    z.object({ approvals: z.array(PendingApproval) }),
    ({ view }) => ({ approvals: view.pendingApprovals }),
  ),
]
