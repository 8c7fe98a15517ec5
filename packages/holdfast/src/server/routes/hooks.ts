import { HookList, ok } from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, type Route } from '../define/route.ts'

const listHooks = defineRoute({
  on: 'GET /v1/hooks',
  summary: 'List the hooks of a folder: those that run, and those of its workspace that do not',
  query: z.strictObject({ workdir: z.string().min(1).max(4096) }),
  answers: answersJson(HookList),
  refuses: ['not_found', 'bad_config'],
  async handle({ input }, { hooks }) {
    const found = await hooks.list(input.query.workdir)
    return found.ok ? ok({ hooks: [...found.value] }) : found
  },
})

export const hookRoutes: readonly Route[] = [listHooks]
