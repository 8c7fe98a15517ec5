import { ok, TreeUsage } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute, flag } from '../http/route.ts'

export const getUsage = defineRoute({
  method: 'GET',
  path: '/v1/sessions/:id/usage',
  access: 'token',
  summary: 'What a session used; with tree, all that were started for it too',
  query: z.strictObject({ tree: flag.optional() }),
  answers: { status: 200, mediaType: 'application/json', schema: TreeUsage },
  async handle({ session, input }, { sessions }) {
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    if (input.query.tree) {
      const tree = await handle.value.treeUsage()
      return tree.ok ? ok(Response.json(tree.value)) : tree
    }
    const snapshot = await handle.value.snapshot()
    return snapshot.ok ? ok(Response.json({ usage: snapshot.value.meta.usage, sessions: 1 })) : snapshot
  },
})
