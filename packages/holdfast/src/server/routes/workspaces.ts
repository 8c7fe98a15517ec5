import { HookList, ok, ToolList } from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, type Route } from '../define/route.ts'

const ofFolder = z.strictObject({ workdir: z.string().min(1).max(4096) })

const listHooks = defineRoute({
  on: 'GET /v1/hooks',
  summary: 'List the hooks of a folder: those that run, and those of its workspace that do not',
  query: ofFolder,
  answers: answersJson(HookList),
  refuses: ['not_found', 'bad_config'],
  async handle({ input }, { hooks }) {
    const found = await hooks.list(input.query.workdir)
    return found.ok ? ok({ hooks: [...found.value] }) : found
  },
})

const listTools = defineRoute({
  on: 'GET /v1/tools',
  summary: 'List the tools of a new session in a folder, with the rules and the sandbox in force',
  query: ofFolder,
  answers: answersJson(ToolList),
  refuses: ['not_found', 'bad_config'],
  handle: ({ input }, { tools }) => tools.list({ workdir: input.query.workdir }),
})

/** The routes for what counts in a folder. */
export const workspaceRoutes: readonly Route[] = [listHooks, listTools]
