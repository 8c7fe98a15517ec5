import {
  ageForm,
  ClearOptions,
  EmptyTrashOptions,
  fault,
  ListOptions,
  limits,
  Meta,
  ok,
  PruneOptions,
  parseAge,
  Removal,
  type Result,
  refuse,
  SessionList,
} from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute, flag, type Route, wholeNumber } from '../http/route.ts'

const removal = { status: 200, mediaType: 'application/json', schema: Removal } as const
const answerOf = (removed: Result<Removal>): Result<Response> =>
  removed.ok ? ok(Response.json(removed.value)) : removed

/** With force others are put out of the session, which is for whoever may do everything. */
const notForced = fault('not_driver', 'Only an admin token may delete a session that runs or is attended.')

export const deleteSession = defineRoute({
  method: 'DELETE',
  path: '/v1/sessions/:id',
  access: 'token',
  summary: 'Put a session into the trash; one that runs or is attended only by force',
  query: z.strictObject({ force: flag.optional(), dryRun: flag.optional() }),
  answers: removal,
  async handle({ session, caller, input }, { sessions }) {
    if (input.query.force && caller !== 'admin') return refuse(notForced)
    return answerOf(await sessions.delete(session, input.query))
  },
})

export const restoreSession = defineRoute({
  method: 'POST',
  path: '/v1/sessions/:id/restore',
  access: 'token',
  summary: 'Take a session out of the trash',
  answers: { status: 200, mediaType: 'application/json', schema: z.object({ session: Meta }) },
  async handle({ session }, { sessions }) {
    const restored = await sessions.restore(session)
    return restored.ok ? ok(Response.json({ session: restored.value })) : restored
  },
})

const { workspace, search, startedFor, cursor } = ListOptions.shape

const listTrash = defineRoute({
  method: 'GET',
  path: '/v1/trash',
  access: 'token',
  summary: 'List what is in the trash, last put there first',
  query: z.strictObject({
    ...{ workspace, search, startedFor, cursor },
    limit: wholeNumber.pipe(z.int().min(1).max(limits.listSessionsMax)).optional(),
  }),
  answers: { status: 200, mediaType: 'application/json', schema: SessionList },
  async handle({ input }, { sessions }) {
    const list = await sessions.list({ ...input.query, trashed: true })
    return list.ok ? ok(Response.json(list.value)) : list
  },
})

const emptyTrash = defineRoute({
  method: 'POST',
  path: '/v1/trash/empty',
  access: 'admin',
  summary: 'Remove what is in the trash, for good',
  body: EmptyTrashOptions,
  answers: removal,
  handle: async ({ input }, { sessions }) => answerOf(await sessions.emptyTrash(input.body)),
})

const clearSessions = defineRoute({
  method: 'POST',
  path: '/v1/clear',
  access: 'admin',
  summary: 'Put all sessions into the trash but those that run, are attended or pinned',
  body: ClearOptions,
  answers: removal,
  handle: async ({ input }, { sessions }) => answerOf(await sessions.clearAll(input.body)),
})

const PruneBody = PruneOptions.extend({
  before: PruneOptions.shape.before.optional(),
  /** In place of `before`: `30d`. */
  olderThan: z.string().optional(),
})

const pruneSessions = defineRoute({
  method: 'POST',
  path: '/v1/prune',
  access: 'admin',
  summary: 'Put sessions in which nobody spoke for long into the trash',
  body: PruneBody,
  answers: removal,
  async handle({ input }, { sessions, now }) {
    const { before, olderThan, ...rest } = input.body
    if ((before === undefined) === (olderThan === undefined))
      return refuse(fault('bad_request', 'Give `before`, a moment, or `olderThan`, an age: one of them.'))
    if (before !== undefined) return answerOf(await sessions.prune({ before, ...rest }))
    const ageMs = parseAge(olderThan ?? '')
    if (ageMs === null) return refuse(fault('bad_request', `olderThan: give ${ageForm}.`))
    return answerOf(await sessions.prune({ before: new Date(now() - ageMs).toISOString(), ...rest }))
  },
})

/** How sessions leave and come back, but for those routes that stand with the session's own. */
export const trashRoutes: readonly Route[] = [listTrash, emptyTrash, clearSessions, pruneSessions]
