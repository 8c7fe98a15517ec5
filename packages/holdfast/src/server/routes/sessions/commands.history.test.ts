import { SessionId } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf } from '../../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openRuntimeServer>>

const Answered = z.object({ seq: z.int(), result: z.record(z.string(), z.unknown()) })
const Page = z.object({ messages: z.array(z.looseObject({ id: z.int(), text: z.string() })) })

const messages = ['one', 'two', 'three', 'four', 'five'].flatMap((text) => [
  { role: 'user', content: text },
  { role: 'assistant', content: `${text}!` },
])

/** Returns the answer to a command, or its status and code. */
async function tell(test: Test, command: object, path = test.path) {
  const response = await test.post(`${path}/commands`, JSON.stringify(command))
  return response.status === 202
    ? Answered.parse(await response.json()).result
    : [response.status, await codeOf(response)]
}

async function textsOf(test: Test, query = '') {
  const response = await test.call(`${test.path}/messages${query}`)
  if (!response.ok) return [response.status, await codeOf(response)]
  return Page.parse(await response.json()).messages.map(({ text }) => text)
}

const branchesOf = async (test: Test, path = test.path) => (await test.call(`${path}/branches`)).json()

describe('branches over HTTP', () => {
  it('are created, listed, read and resumed', async () => {
    await using test = await openRuntimeServer()
    expect(await tell(test, { type: 'seedMessages', messages: messages.slice(0, 4) })).toEqual({})
    expect(await branchesOf(test)).toEqual({ branches: [] })
    expect(await tell(test, { type: 'branchAt', turn: 0 })).toEqual({ branch: 'branch-1' })
    expect(await textsOf(test)).toEqual(['one', 'one!'])
    expect(await textsOf(test, '?branch=branch-1')).toEqual(['one', 'one!', 'two', 'two!'])
    expect(await branchesOf(test)).toEqual({
      branches: [{ name: 'branch-1', turns: 2, messages: 4, at: expect.any(String), differsAt: expect.any(Number) }],
    })
    expect(await tell(test, { type: 'switchBranch', branch: 0 })).toEqual({ branch: 'branch-1' })
    expect(await textsOf(test)).toEqual(['one', 'one!', 'two', 'two!'])
    expect(await tell(test, { type: 'rewind', turn: 0 })).toEqual({ branch: 'branch-1' })
  })

  it('are refused with a code for each missing thing', async () => {
    await using test = await openRuntimeServer()
    await tell(test, { type: 'seedMessages', messages: messages.slice(0, 2) })
    expect(await tell(test, { type: 'branchAt', turn: 7 })).toEqual([404, 'turn_not_found'])
    expect(await tell(test, { type: 'rewind', turn: -1 })).toEqual([400, 'bad_request'])
    expect(await tell(test, { type: 'switchBranch', branch: 'branch-7' })).toEqual([404, 'branch_not_found'])
    expect(await tell(test, { type: 'fork', at: 7 })).toEqual([404, 'turn_not_found'])
    expect(await tell(test, { type: 'togglePin', message: 700 })).toEqual([404, 'message_not_found'])
    expect(await textsOf(test, '?branch=branch-7')).toEqual([404, 'branch_not_found'])
    expect(await textsOf(test, '?branch=..%2Fx')).toEqual([400, 'bad_request'])
    const nobody = await test.call('/v1/sessions/calm-harbor-77/branches')
    expect([nobody.status, await codeOf(nobody)]).toEqual([404, 'session_not_found'])
  })

  it('are shared with a fork, which is created once', async () => {
    await using test = await openRuntimeServer()
    await tell(test, { type: 'seedMessages', messages: messages.slice(0, 4) })
    const asked = { type: 'fork', at: 0, commandId: 'once' }
    const made = await tell(test, asked)
    expect(await tell(test, asked)).toEqual(made)
    const { session } = z.object({ session: SessionId }).parse(made)
    const page = Page.parse(await (await test.call(`/v1/sessions/${session}/messages`)).json())
    expect(page.messages.map(({ text }) => text)).toEqual(['one', 'one!'])
    expect(await tell(test, { type: 'branchAt', turn: 0 }, `/v1/sessions/${session}`)).toEqual({ branch: 'branch-1' })
    expect(await branchesOf(test)).toEqual({ branches: [] })
  })
})

describe('messages over HTTP', () => {
  it('are pinned, annotated and replaced', async () => {
    await using test = await openRuntimeServer()
    await tell(test, { type: 'seedMessages', messages: messages.slice(0, 2) })
    const page = Page.parse(await (await test.call(`${test.path}/messages`)).json())
    const [first] = page.messages
    expect(await tell(test, { type: 'togglePin', message: first?.id })).toEqual({ pinned: true })
    expect(await tell(test, { type: 'togglePin', message: first?.id })).toEqual({ pinned: false })
    expect(await tell(test, { type: 'addSystemMessage', text: 'ready' })).toEqual({})
    expect(await textsOf(test)).toEqual(['one', 'one!', 'ready'])
    expect(await tell(test, { type: 'truncateHistory', keepLast: 1 })).toEqual({ branch: 'branch-1' })
    expect(await textsOf(test)).toEqual(['one!', 'ready'])
    expect(await tell(test, { type: 'setHistory', messages: messages.slice(2, 4) })).toEqual({ branch: 'branch-2' })
    expect(await textsOf(test)).toEqual(['two', 'two!'])
    const orphan = [{ role: 'tool', content: 'x', toolCallId: 'c' }]
    expect(await tell(test, { type: 'seedMessages', messages: orphan })).toEqual([400, 'bad_request'])
  })

  it('are seeded at the start, or no session is started', async () => {
    await using test = await openRuntimeServer()
    const start = (given: object) => test.post('/v1/sessions', JSON.stringify({ workdir: '/work', ...given }))
    const wrong = await start({ messages: [{ role: 'tool', content: 'x', toolCallId: 'c' }] })
    expect([wrong.status, await codeOf(wrong)]).toEqual([400, 'bad_request'])
    expect((await start({ messages: [{ role: 'robot', content: 'x' }] })).status).toBe(400)
    expect(test.runtime.registry.all()).toHaveLength(1)
  })
})

describe('the context over HTTP', () => {
  it('is compacted, restored and exported', async () => {
    await using test = await openRuntimeServer()
    expect(await tell(test, { type: 'compact' })).toEqual([409, 'nothing_to_compact'])
    expect(await tell(test, { type: 'summarize' })).toEqual([409, 'nothing_to_summarize'])
    expect(await tell(test, { type: 'undoCompaction' })).toEqual([409, 'nothing_to_compact'])
    await tell(test, { type: 'seedMessages', messages })
    expect(await tell(test, { type: 'compact' })).toEqual({
      summary: 'Hi.',
      tokensBefore: expect.any(Number),
      tokensAfter: expect.any(Number),
    })
    expect(await textsOf(test)).toHaveLength(11)
    expect(await tell(test, { type: 'undoCompaction' })).toEqual({ tokens: expect.any(Number) })
    expect(await tell(test, { type: 'summarize' })).toEqual({ text: 'Hi.', path: 'notes/Hi..md' })
    expect(await tell(test, { type: 'setSummary', summary: 'Short.' })).toMatchObject({ summary: 'Short.' })
    expect(await tell(test, { type: 'appendCheckpoint', messages, tokenCount: 9 })).toMatchObject({ summary: '' })
  })

  it('changes model and thinking level if they exist', async () => {
    await using test = await openRuntimeServer()
    expect(await tell(test, { type: 'setThinkingLevel', level: 'high' })).toEqual({ thinkingLevel: 'high' })
    expect(await tell(test, { type: 'setThinkingLevel', level: 'huge' })).toEqual([400, 'unknown_level'])
    expect(await tell(test, { type: 'setModel', model: 'huge' })).toEqual([400, 'unknown_model'])
  })
})
