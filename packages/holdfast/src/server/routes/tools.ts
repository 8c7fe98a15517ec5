import { ToolList } from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, type Route } from '../define/route.ts'

const listTools = defineRoute({
  on: 'GET /v1/tools',
  summary: 'List the tools of a new session in a folder, with the rules and the sandbox in force',
  query: z.strictObject({ workdir: z.string().min(1).max(4096) }),
  answers: answersJson(ToolList),
  refuses: ['not_found', 'bad_config'],
  handle: ({ input }, { tools }) => tools.list({ workdir: input.query.workdir }),
})

/** One of the routes of a session. */
export const getSessionTools = defineRoute({
  on: 'GET /v1/sessions/:id/tools',
  summary: 'List the tools of a session, with the rules and the sandbox in force, and its edit boundaries',
  answers: answersJson(ToolList),
  refuses: ['not_found', 'bad_config', 'bad_workdir'],
  async handle({ session }, { sessions, tools }) {
    const handle = await sessions.open(session)
    return handle.ok ? tools.list({ session: handle.value.id }) : handle
  },
})

export const toolRoutes: readonly Route[] = [listTools]
