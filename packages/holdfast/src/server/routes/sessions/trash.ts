import {
  ageForm,
  ClearOptions,
  DeleteOptions,
  EmptyTrashOptions,
  fault,
  ListOptions,
  limits,
  Meta,
  ok,
  PruneOptions,
  parseAge,
  Removal,
  refuse,
  SessionList,
} from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, flag, pageLimit, type Route } from '../../define/route.ts'

/** Only an admin may force: it disconnects others. */
const forceNeedsAdmin = fault('not_driver', 'Only an admin token may delete a session that is running or in use.', {
  needs: 'admin',
})

const deleteSession = defineRoute({
  on: 'DELETE /v1/sessions/:id',
  summary: 'Move a session to the trash; `force` also if it is running or in use',
  query: z.strictObject({ force: flag, dryRun: flag }),
  answers: answersJson(Removal),
  refuses: ['turn_running', 'session_in_use'],
  async handle({ session, caller, input }, { sessions }) {
    if (input.query.force && caller?.role !== 'admin') return refuse(forceNeedsAdmin)
    return sessions.delete(session, input.query)
  },
})

const purgeSession = defineRoute({
  on: 'POST /v1/sessions/:id/purge',
  summary: 'Delete a session permanently, in the trash or not; `force` also if it is running or in use',
  body: DeleteOptions,
  answers: answersJson(Removal),
  refuses: ['turn_running', 'session_in_use'],
  handle: ({ session, input }, { sessions }) => sessions.purge(session, input.body),
})

const restoreSession = defineRoute({
  on: 'POST /v1/sessions/:id/restore',
  summary: 'Restore a session from the trash',
  answers: answersJson(z.object({ session: Meta })),
  refuses: ['session_not_trashed', 'key_taken', 'handle_taken'],
  async handle({ session }, { sessions }) {
    const restored = await sessions.restore(session)
    return restored.ok ? ok({ session: restored.value }) : restored
  },
})

const { workspace, search, startedFor, cursor } = ListOptions.shape

const listTrash = defineRoute({
  on: 'GET /v1/trash',
  summary: 'List the trash, newest first',
  query: z.strictObject({
    workspace,
    search,
    startedFor,
    cursor,
    limit: pageLimit(limits.listSessionsMax),
  }),
  answers: answersJson(SessionList),
  handle: ({ input }, { sessions }) => sessions.list({ ...input.query, trashed: true }),
})

const emptyTrash = defineRoute({
  on: 'POST /v1/trash/empty',
  summary: 'Delete everything in the trash permanently',
  body: EmptyTrashOptions,
  answers: answersJson(Removal),
  handle: ({ input }, { sessions }) => sessions.emptyTrash(input.body),
})

const clearSessions = defineRoute({
  on: 'POST /v1/clear',
  summary: 'Move all sessions to the trash, except running, used and pinned ones; `force` also those',
  body: ClearOptions,
  answers: answersJson(Removal),
  handle: ({ input }, { sessions }) => sessions.clearAll(input.body),
})

const PruneBody = PruneOptions.extend({
  before: PruneOptions.shape.before.optional(),
  /** Instead of `before`: an age such as `30d`. */
  olderThan: z.string().optional(),
})

const pruneSessions = defineRoute({
  on: 'POST /v1/prune',
  summary: 'Move inactive sessions to the trash',
  body: PruneBody,
  answers: answersJson(Removal),
  async handle({ input }, { sessions, now }) {
    const { before, olderThan, ...rest } = input.body
    if ((before === undefined) === (olderThan === undefined))
      return refuse(fault('bad_request', 'Give either `before` (a time) or `olderThan` (an age).'))
    if (before !== undefined) return sessions.prune({ before, ...rest })
    const ageMs = parseAge(olderThan ?? '')
    if (ageMs === null) return refuse(fault('bad_request', `olderThan: give ${ageForm}.`))
    return sessions.prune({ before: new Date(now() - ageMs).toISOString(), ...rest })
  },
})

export const trashRoutes: readonly Route[] = [
  ...[deleteSession, purgeSession, restoreSession, listTrash, emptyTrash, clearSessions, pruneSessions],
]
