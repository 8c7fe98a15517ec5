import { type CommandInput, invariant } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { createScriptedServer, json } from './testing/scripted-server.ts'
import { message, meta, view } from './testing/story.ts'

it('says where a command is wrong, and sends nothing', async () => {
  const server = createScriptedServer([
    json({ session: meta, seq: 4, view, messages: [message(3)], before: 3, here: null }),
  ])
  const handle = await server.sessions.open('calm-harbor-12')
  invariant(handle.ok, 'the session opens')
  const wrong = { type: 'respondToApproval', decision: 'perhaps' } as unknown as CommandInput // as JavaScript may send it
  const answer = await handle.value.submit(wrong)
  expect(answer).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
  expect(answer.ok ? '' : answer.fault.message).toMatch(/^That is no command: decision: .+\.$/)
  expect(server.asked).toHaveLength(1)
})
