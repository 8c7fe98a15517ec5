import { BranchName, limits, Message, MessageId, Meta, ok } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute, wholeNumber } from '../http/route.ts'

const cursor = wholeNumber.pipe(MessageId).optional()

export const getMessages = defineRoute({
  method: 'GET',
  path: '/v1/sessions/:id/messages',
  access: 'token',
  summary: 'A page of the transcript, or of a branch',
  query: z.strictObject({
    before: cursor,
    after: cursor,
    limit: wholeNumber.pipe(z.int().min(1).max(limits.pageMessagesMax)).optional(),
    branch: BranchName.optional(),
  }),
  answers: {
    status: 200,
    mediaType: 'application/json',
    schema: z.object({
      session: Meta,
      messages: z.array(Message),
      before: MessageId.nullable(),
      after: MessageId.nullable(),
    }),
  },
  async handle({ session, input }, { sessions }) {
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const page = await handle.value.page(input.query)
    return page.ok ? ok(Response.json(page.value)) : page
  },
})
