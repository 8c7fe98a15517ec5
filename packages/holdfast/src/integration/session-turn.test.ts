import { connectSessions, createSession, type Session, type TurnItem } from '@holdfast/client'
import { orThrow } from '@holdfast/protocol'
import {
  aTool,
  call,
  createGate,
  fail,
  type Script,
  say,
  sayPartial,
  scriptedUsage,
  think,
  waitAt,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { openRuntimeServer } from '../server/testing/runtime-server.ts'

const known = 'The options are as, commandId, signal, queue.'

/** An item as a short text. */
const brief = (item: TurnItem): string => {
  if (item.type === 'tool_call' || item.type === 'tool_result')
    return `${item.type} ${item.call.tool} ${item.call.status}`
  if (item.type === 'end') return `end ${item.reason}`
  if (item.type === 'subagent') return `subagent ${item.subagent.status}`
  return item.type === 'approval' ? `approval ${item.approval.tool}` : `${item.type} ${item.text}`
}

/** The items as short texts, with the fragments of a text joined. */
function briefs(items: readonly TurnItem[]): readonly string[] {
  const joined: TurnItem[] = []
  for (const item of items) {
    const last = joined.at(-1)
    if ((item.type === 'text' || item.type === 'thinking') && last?.type === item.type)
      joined[joined.length - 1] = { ...item, text: last.text + item.text }
    else joined.push(item)
  }
  return joined.map(brief)
}

describe.each(['in this process', 'over HTTP'])('a turn %s', (where) => {
  async function open(script: Script) {
    const tool = aTool('write', async (_, __, { begin }) => {
      await begin()
      return { type: 'ok', output: { text: 'written' } }
    })
    const test = await openRuntimeServer({}, undefined, { script, tools: [tool] })
    const remote = connectSessions({ url: test.server.url, token: test.tokens.driver })
    const handle = where === 'over HTTP' ? orThrow(await remote.open(test.runtime.handle.id)) : test.runtime.handle
    const session: Session = createSession(handle)
    return { session, [Symbol.asyncDispose]: () => test[Symbol.asyncDispose]() }
  }

  it('yields text, thinking, calls, approvals and results, once and in order', async () => {
    await using test = await open([[think('Hm.'), say('I write.'), call('write', {})], [say('Done.')]])
    const items: TurnItem[] = []
    const turn = test.session.prompt('write it')
    for await (const item of turn) {
      items.push(item)
      if (item.type === 'approval') await test.session.respondToApproval('approve', item.approval.id)
    }
    expect(briefs(items)).toEqual([
      ...['thinking Hm.', 'text I write.', 'tool_call write waiting', 'approval write'],
      ...['tool_result write complete', 'text Done.', 'end done'],
    ])
    const usage = { ...scriptedUsage, input: 200, output: 20 }
    const { seq } = await turn.accepted
    expect(await turn.result()).toMatchObject({ text: 'Done.', reason: 'done', usage, turn: 0 })
    expect((await turn.result()).seq).toBeGreaterThan(seq)
    expect(await turn.text()).toBe('Done.')
    expect(briefs(await Array.fromAsync(turn))).toEqual(briefs(items))
  })

  it('numbers its steps, so that a reader sees where a new text begins', async () => {
    await using test = await open([
      [call('write', {})],
      [think('Hm.'), say('I write.'), call('write', {})],
      [say('Done.')],
    ])
    const texts: string[] = []
    for await (const item of test.session.prompt('write it')) {
      if (item.type === 'approval') await test.session.respondToApproval('approve', item.approval.id)
      if (item.type === 'text') texts[item.step] = (texts[item.step] ?? '') + item.text
      if (item.type === 'thinking') expect(item.step).toBe(1)
    }
    expect(texts).toEqual([undefined, 'I write.', 'Done.'])
  })

  it('yields a notice for people where a limit ends it', async () => {
    await using test = await open([[call('write', {})], [say('Done.')]])
    await test.session.setBudgets({ maxSteps: 1 })
    await test.session.setToolTrust('write', 'session')
    const items = await Array.fromAsync(test.session.prompt('write it'))
    expect(briefs(items).map((text) => text.replace(/^notice .*/, 'notice'))).toEqual([
      ...['tool_call write waiting', 'tool_result write complete', 'notice', 'end limit'],
    ])
    const notice = items.find((item) => item.type === 'notice')
    expect(notice).toMatchObject({ level: 'info', code: 'step_limit', text: expect.stringContaining('1') })
  })

  it('is no promise, so that an async function can return it', async () => {
    await using test = await open([[say('One.')]])
    const begin = async () => test.session.prompt('go')
    const turn = await begin()
    expect(await turn.text()).toBe('One.')
  })

  it('is aborted by a signal, and not sent if that came before', async () => {
    await using test = await open([[sayPartial('Hel'), waitAt(createGate())]])
    const stop = new AbortController()
    const turn = test.session.prompt('go', { signal: stop.signal })
    await turn[Symbol.asyncIterator]().next()
    stop.abort()
    expect(await turn.result()).toMatchObject({ text: 'Hel', reason: 'aborted' })
    const { signal } = stop
    for (const unsent of [test.session.prompt('again', { signal }), test.session.continue({ signal })])
      await expect(unsent.text()).rejects.toMatchObject({ name: 'AbortError' })
    expect(await test.session.metadata()).toMatchObject({ turnCount: 1 })
  })

  it('refuses an option that it does not have', async () => {
    await using test = await open([])
    const send = (options: object) => test.session.prompt('go', options).text()
    const refused = (message: string) => expect.objectContaining({ code: 'bad_request', message })
    await expect(send({ abortSignal: 1 })).rejects.toEqual(refused(`There is no option "abortSignal". ${known}`))
    await expect(send({ Queue: 1 })).rejects.toEqual(refused(`There is no option "Queue". Did you mean 'queue'?`))
    await expect(send({ queue: 'later' })).rejects.toEqual(
      refused(`There is no queue "later". Use steering or follow_up.`),
    )
    await expect(test.session.continue({ queue: 'steering' } as object).text()).rejects.toMatchObject({
      code: 'bad_request',
    })
    expect(await test.session.metadata()).toMatchObject({ turnCount: 0 })
  })

  it('gives a second prompt its own answer', async () => {
    await using test = await open([[say('One.')], [say('Two.')]])
    expect(await test.session.prompt('first').text()).toBe('One.')
    expect(await test.session.prompt('second').text()).toBe('Two.')
    expect(await test.session.prompt('third').result()).toMatchObject({ turn: 2, reason: 'failed' })
  })

  it('that is joined in the middle of its answer yields the whole text', async () => {
    const gate = createGate()
    await using test = await open([[sayPartial('Hel'), waitAt(gate), sayPartial('lo')]])
    const turn = test.session.prompt('go')
    const first = turn[Symbol.asyncIterator]()
    expect((await first.next()).value).toEqual({ type: 'text', text: 'Hel', step: 0 })
    const late = Array.fromAsync(turn)
    gate.open()
    const text = (await late).flatMap((item) => (item.type === 'text' ? [item.text] : []))
    expect(text.join('')).toBe('Hello')
  })

  it('throws the refusal of its prompt, wherever it is read', async () => {
    await using test = await open([])
    const refused = { code: 'empty_prompt' }
    await expect(test.session.prompt(' ').accepted).rejects.toMatchObject(refused)
    await expect(test.session.prompt(' ').text()).rejects.toMatchObject(refused)
    await expect(Array.fromAsync(test.session.prompt(' '))).rejects.toMatchObject(refused)
    await expect(test.session.continue().result()).rejects.toMatchObject({ code: 'nothing_to_continue' })
  })

  it('that failed has a result, and its text throws; continue gives the rest', async () => {
    await using test = await open([[sayPartial('Hel'), fail()], [say('lo again.')]])
    const turn = test.session.prompt('go')
    expect(await turn.result()).toMatchObject({ text: 'Hel', reason: 'failed', fault: { kind: 'passthrough' } })
    await expect(turn.text()).rejects.toMatchObject({ code: 'turn_failed', details: { text: 'Hel' } })
    const again = test.session.continue()
    expect(await again.accepted).toEqual({ seq: expect.any(Number) })
    expect(await again.result()).toMatchObject({ text: 'lo again.', reason: 'done', turn: 0 })
  })

  it('that failed or was aborted says so in its last item', async () => {
    await using test = await open([
      [sayPartial('Hel'), fail()],
      [sayPartial('Wai'), waitAt(createGate())],
    ])
    const items = await Array.fromAsync(test.session.prompt('go'))
    expect(items.at(-1)).toEqual({
      type: 'end',
      reason: 'failed',
      fault: expect.objectContaining({ kind: 'passthrough' }),
    })
    const turn = test.session.prompt('again')
    const seen: TurnItem[] = []
    for await (const item of turn) {
      seen.push(item)
      if (item.type === 'text') await turn.abort()
    }
    expect(seen.at(-1)).toEqual({ type: 'end', reason: 'aborted' })
  })

  it('of a prompt that waits ends with the turn it waits for, if that is cut short', async () => {
    await using test = await open([[sayPartial('Hel'), waitAt(createGate())], [say('Three.')], [say('Two.')]])
    const { session } = test
    const first = session.prompt('one')
    await first[Symbol.asyncIterator]().next()
    const steering = session.prompt('two')
    const followUp = session.prompt('three', { queue: 'follow_up' })
    await Promise.all([steering.accepted, followUp.accepted])
    const steered = Array.fromAsync(steering)
    await session.abort()
    expect(briefs(await steered)).toEqual(['end aborted'])
    expect(await steering.result()).toMatchObject({ text: '', reason: 'aborted', turn: 0, queued: 'steering' })
    expect(await followUp.result()).toMatchObject({ text: '', reason: 'aborted', turn: 0, queued: 'follow_up' })
    await steering.abort() // takes the prompt back
    expect((await session.getQueuedMessages()).map(({ queue }) => queue)).toEqual(['follow_up'])
    await followUp.abort()
    expect(await session.prompt('four').result()).toMatchObject({ text: 'Three.', reason: 'done' })
  })

  it('is aborted, but no other turn is', async () => {
    const gates = [createGate(), createGate()] as const
    await using test = await open([
      [sayPartial('Hel'), waitAt(gates[0])],
      [waitAt(gates[1]), say('Two.')],
    ])
    const first = test.session.prompt('go')
    await first[Symbol.asyncIterator]().next()
    await first.abort()
    expect(await first.result()).toMatchObject({ text: 'Hel', reason: 'aborted' })
    const second = test.session.prompt('go on')
    await second.accepted
    await first.abort()
    gates[1].open()
    expect(await second.text()).toBe('Two.')
  })

  it('of a prompt that steers begins where the prompt joins', async () => {
    const gate = createGate()
    await using test = await open([[waitAt(gate), say('One.')], [say('Two.')]])
    test.session.prompt('go')
    await gate.reached // a prompt that comes earlier joins the first step
    const steering = test.session.prompt('also this')
    expect(await steering.accepted).toMatchObject({ queued: 'steering' })
    gate.open()
    expect(briefs(await Array.fromAsync(steering))).toEqual(['text Two.', 'end done'])
    expect(await steering.result()).toMatchObject({ text: 'Two.', turn: 0, usage: scriptedUsage })
  })

  it('of a prompt that was answered ends there, when another prompt joins after the answer', async () => {
    const gates = [createGate(), createGate()] as const
    await using test = await open([
      [waitAt(gates[0]), say('Answer to A.')],
      [waitAt(gates[1]), say('Answer to B.')],
    ])
    const a = test.session.prompt('A')
    await gates[0].reached
    const b = test.session.prompt('B')
    expect(await b.accepted).toMatchObject({ queued: 'steering' })
    gates[0].open()
    expect(await a.result()).toMatchObject({ text: 'Answer to A.', reason: 'done', turn: 0, usage: scriptedUsage })
    expect(briefs(await Array.fromAsync(a))).toEqual(['text Answer to A.', 'end done'])
    await a.abort() // it has ended, so this stops nothing
    gates[1].open()
    expect(await b.text()).toBe('Answer to B.')
    const { seq } = await a.result()
    const [next] = (await test.session.messages()).filter(({ id }) => id > seq)
    expect(next).toMatchObject({ kind: 'user', text: 'B' })
  })

  it('shares its answer with a prompt that joins before there is one', async () => {
    await using test = await open([[say('I write.'), call('write', {})], [say('Both are done.')]])
    const a = test.session.prompt('A')
    for await (const item of a) {
      if (item.type !== 'approval') continue
      await test.session.sendPrompt('B')
      await test.session.respondToApproval('approve')
    }
    expect(await a.text()).toBe('Both are done.')
  })

  it('of a follow-up is the next turn, with an answer of its own', async () => {
    const gate = createGate()
    await using test = await open([[call('write', {})], [waitAt(gate), say('Answer to A.')], [say('Answer to B.')]])
    const a = test.session.prompt('A', { queue: 'follow_up' })
    await a.accepted
    const b = test.session.prompt('B', { queue: 'follow_up' })
    for await (const item of a) {
      if (item.type !== 'approval') continue
      await test.session.respondToApproval('approve')
      gate.open()
    }
    expect(await a.result()).toMatchObject({ text: 'Answer to A.', turn: 0 })
    expect(await b.result()).toMatchObject({ text: 'Answer to B.', turn: 1 })
  })

  it('of a queued prompt ends when the prompt is removed from the queue', async () => {
    const gate = createGate()
    await using test = await open([[waitAt(gate), say('One.')]])
    const first = test.session.prompt('go')
    await gate.reached // a prompt that comes earlier joins the first step
    const steering = test.session.prompt('also this')
    await steering.abort()
    await expect(steering.text()).rejects.toMatchObject({ code: 'queue_entry_not_found' })
    gate.open()
    expect(await first.text()).toBe('One.')
  })
})
