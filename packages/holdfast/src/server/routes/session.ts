import { Message, MessageId, Meta, ok, ProcessView, Seq, SessionView } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute } from '../http/route.ts'

const SessionAnswer = z.object({
  session: Meta,
  seq: Seq,
  view: SessionView,
  messages: z.array(Message),
  before: MessageId.nullable(),
  summary: z.string().nullable(),
  here: ProcessView.nullable(),
})

export const getSession = defineRoute({
  method: 'GET',
  path: '/v1/sessions/:id',
  access: 'token',
  summary: 'What a session is and where it stands, with the newest page of its transcript',
  answers: { status: 200, mediaType: 'application/json', schema: SessionAnswer },
  async handle({ session }, { sessions }) {
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const snapshot = await handle.value.snapshot()
    if (!snapshot.ok) return snapshot
    const { meta, seq, view, messages, before, summary, here } = snapshot.value
    return ok(Response.json({ session: meta, seq, view, messages, before, summary, here }))
  },
})
