import { type CommandInput, invariant } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { createScriptedServer, json } from '../testing/scripted-server.ts'
import { message, meta, view } from '../testing/story.ts'
import { connectSessions } from './connect-sessions.ts'

const opened = json({ meta, session: meta, seq: 4, view, messages: [message(3)], before: 3, summary: null, here: null })

it('explains an invalid command and sends nothing', async () => {
  const server = createScriptedServer([opened])
  const handle = await server.sessions.open('calm-harbor-12')
  invariant(handle.ok, 'the session opens')
  const wrong = { type: 'respondToApproval', decision: 'perhaps' } as unknown as CommandInput // as JavaScript may send it
  const answer = await handle.value.submit(wrong)
  expect(answer).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
  expect(answer.ok ? '' : answer.fault.message).toMatch(/^Invalid command: decision: .+\.$/)
  expect(server.asked).toHaveLength(1)
})

it('returns the code for unknown models and levels, and sends nothing', async () => {
  const server = createScriptedServer([opened])
  const handle = await server.sessions.open('calm-harbor-12')
  invariant(handle.ok, 'the session opens')
  const wrong = { type: 'setThinkingLevel', level: 'huge' } as unknown as CommandInput // as JavaScript may send it
  expect(await handle.value.submit(wrong)).toMatchObject({ ok: false, fault: { code: 'unknown_level' } })
  expect(await handle.value.submit({ type: 'setModel', model: 'huge' })).toMatchObject({
    ok: false,
    fault: { code: 'unknown_model' },
  })
  expect(server.asked).toHaveLength(1)
})

it('lists the branches of a session and reads one', async () => {
  const branches = [{ name: 'branch-1', turns: 2, messages: 5, at: meta.createdAt, differsAt: 4 }]
  const page = json({ session: meta, messages: [message(3)], before: null, after: null })
  const server = createScriptedServer([opened, json({ branches }), json({ branches: 'none' }), page])
  const handle = await server.sessions.open('calm-harbor-12')
  invariant(handle.ok, 'the session opens')
  expect(await handle.value.branches()).toEqual({ ok: true, value: branches })
  expect(await handle.value.branches()).toMatchObject({ ok: false, fault: { code: 'unreachable' } })
  await handle.value.page({ branch: 'my branch', limit: 2 })
  expect(server.asked.slice(1).map(({ path }) => path.slice(path.indexOf(meta.id) + meta.id.length))).toEqual([
    '/branches',
    '/branches',
    '/messages?limit=2&branch=my+branch',
  ])
})

it('sends commands in the order in which they were given, and a stop at once', async () => {
  const sent: string[] = []
  const answers: (() => void)[] = []
  const sessions = connectSessions({
    url: 'http://127.0.0.1:4820',
    async fetch(_, init) {
      if (init?.method !== 'POST') return Response.json({ meta })
      sent.push((JSON.parse(String(init.body)) as CommandInput).type)
      await new Promise<void>((resolve) => answers.push(resolve))
      return Response.json({ seq: 5 })
    },
  })
  const open = async () => {
    const handle = await sessions.open('calm-harbor-12')
    invariant(handle.ok, 'the session opens')
    return handle.value
  }
  const [one, other] = [await open(), await open()]
  const named = one.submit({ type: 'rename', title: 'a' })
  const pinned = other.submit({ type: 'pinSession' })
  const stopped = one.submit({ type: 'abort' })
  await expect.poll(() => sent).toEqual(expect.arrayContaining(['rename', 'abort']))
  for (const answer of answers.splice(0)) answer()
  await Promise.all([named, stopped])
  await expect.poll(() => sent.at(-1)).toBe('pinSession')
  for (const answer of answers.splice(0)) answer()
  await pinned
  expect(sent.toSorted()).toEqual(['abort', 'pinSession', 'rename'])
})
