import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Problem } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openConversations } from '../entry/open-conversations.ts'
import { openHoldfast } from '../open.ts'
import type { Conversations } from './conversations.ts'
import type { ConversationMessage } from './message.ts'

const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":"sea"}' } }]
const talk: readonly ConversationMessage[] = [
  { role: 'system', content: 'You are brief.' },
  { role: 'user', content: 'what is there?' },
  { role: 'assistant', content: '', toolCalls: calls },
  { role: 'tool', content: 'a ship', toolCallId: 'a' },
  { role: 'assistant', content: 'A ship.' },
]

describe.each(['sqlite', 'jsonl', 'memory'])('conversations in a %s store', (kind) => {
  let home = ''
  let conversations: Conversations
  const problems: Problem[] = []

  const environment = () => ({ HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] })
  const store = () =>
    kind === 'memory' ? 'memory:' : kind === 'jsonl' ? `jsonl:${join(home, 'logs')}` : `sqlite:${join(home, 'a.db')}`
  const options = () => ({ store: store(), environment: environment() })
  const open = () => openConversations({ ...options(), workdir: home, onProblem: (problem) => problems.push(problem) })
  beforeEach(async () => {
    problems.length = 0
    home = await mkdtemp(join(tmpdir(), 'holdfast-conversations-'))
    conversations = await open()
  })
  afterEach(async () => {
    await conversations.close().catch(() => undefined)
    await rm(home, { recursive: true, force: true })
  })
  const addAll = (key: string, messages: readonly ConversationMessage[]) => {
    for (const message of messages) conversations.addFullMessage(key, message)
  }
  /** Closes and reopens the store, unless it is in memory. */
  const again = async () => {
    await conversations.close()
    conversations = await open()
  }

  it('returns added messages in order, at once and after a reopen', async () => {
    conversations.addMessage('one', 'user', 'hello')
    conversations.addMessage('one', 'assistant', 'hi')
    addAll('one', talk)
    const whole = [{ role: 'user', content: 'hello' }, { role: 'assistant', content: 'hi' }, ...talk]
    expect(await conversations.getHistory('one')).toEqual(whole)
    if (kind === 'memory') return
    await again()
    expect(await conversations.getHistory('one')).toEqual(whole)
  })

  it('returns messages exactly as given', async () => {
    const odd: readonly ConversationMessage[] = [
      { role: 'user', content: '' },
      { role: 'assistant', content: '' },
      { content: 'first', role: 'user', name: 'ann', meta: { deep: [1, null, 'x', { y: true }] } },
      { role: 'tool', content: 'of nothing', toolCallId: 'nowhere' },
      { role: 'tool', content: 'of nobody' },
      { role: 'assistant', content: 'two', toolCalls: [...calls, ...calls, { id: '', tool: 'x' }, 'no call'] },
      { role: 'tool', content: 'failed', toolCallId: 'a', isError: true },
      { role: 'system', content: ' \n' },
      { role: 'user', content: 'half \ud83d and \u0000 nul', toolCallId: 'mine' },
      { role: 'assistant', content: 'unanswered', toolCalls: [{ id: 'b', tool: 'look', args: { at: 'sky' } }] },
      { role: 'user', content: 'never mind' },
      { content: null, role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'look', arguments: '{}' } }] },
      { role: 'tool', content: 'sky', tool_call_id: 'c' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'and this?' },
          { type: 'image_url', image_url: { url: 'x' } },
        ],
      },
      { role: 'developer', content: 'be brief' },
      { role: 'critic', content: 'too long', name: 'eve' },
      { role: 'function', content: null },
    ]
    addAll('odd', odd)
    const history = await conversations.getHistory('odd')
    expect(history).toEqual(odd)
    expect(JSON.stringify(history)).toBe(JSON.stringify(odd)) // the order of the fields too
    await conversations.save('odd')
  })

  it('accepts a call and its result in separate saves', async () => {
    for (const message of talk) {
      conversations.addFullMessage('one', message)
      await conversations.save('one')
    }
    expect(await conversations.getHistory('one')).toEqual(talk)
  })

  it('is not affected by later changes of a message object', async () => {
    const message = { role: 'user' as const, content: 'as it was', list: ['one'] }
    conversations.addFullMessage('one', message)
    message.content = 'changed'
    message.list.push('two')
    expect(await conversations.getHistory('one')).toEqual([{ role: 'user', content: 'as it was', list: ['one'] }])
  })

  it('returns nothing for an unused key and creates no session', async () => {
    expect(await conversations.getHistory('unknown')).toEqual([])
    expect(await conversations.getSummary('unknown')).toBe('')
    conversations.truncateHistory('unknown', 3)
    conversations.setHistory('unknown', [])
    conversations.setSummary('unknown', '')
    await conversations.save('unknown')
    await conversations.close()
    const holdfast = await openHoldfast(options())
    const { sessions } = await holdfast.list()
    await holdfast.close()
    expect(sessions).toEqual([])
  })

  it('stores summary and history separately', async () => {
    conversations.setSummary('one', 'They met.')
    expect(await conversations.getHistory('one')).toEqual([])
    addAll('one', talk)
    conversations.setHistory('one', talk.slice(1))
    expect(await conversations.getSummary('one')).toBe('They met.')
    expect(await conversations.getHistory('one')).toEqual(talk.slice(1))
    conversations.truncateHistory('one', 1)
    expect(await conversations.getSummary('one')).toBe('They met.')
    conversations.setSummary('one', 'They parted.')
    expect(await conversations.getSummary('one')).toBe('They parted.')
    expect(await conversations.getHistory('one')).toEqual(talk.slice(-1))
  })

  it.each([0, 1, 2, 3, 4, 5, 9])('keeps exactly the last %i messages', async (keepLast) => {
    addAll('one', talk)
    conversations.truncateHistory('one', keepLast)
    const kept = keepLast === 0 ? [] : talk.slice(-keepLast)
    expect(await conversations.getHistory('one')).toEqual(kept)
    conversations.addMessage('one', 'user', 'and now?')
    const grown = [...kept, { role: 'user', content: 'and now?' }]
    expect(await conversations.getHistory('one')).toEqual(grown)
    conversations.truncateHistory('one', 2)
    expect(await conversations.getHistory('one')).toEqual(grown.slice(-2))
  })

  it('saves the old messages as a branch when it is truncated or set', async () => {
    addAll('one', talk)
    conversations.truncateHistory('one', 1)
    conversations.setHistory('one', [{ role: 'user', content: 'anew' }])
    await conversations.close()
    if (kind === 'memory') return
    const holdfast = await openHoldfast(options())
    const session = await holdfast.getOrCreate('one')
    const branches = await session.listBranches()
    const texts = (await session.messages({ branch: branches[0]?.name })).map((one) => ('text' in one ? one.text : ''))
    await holdfast.close()
    expect(branches).toHaveLength(2)
    expect(texts).toEqual(['You are brief.', 'what is there?', '', 'A ship.'])
  })

  it('distinguishes keys, whatever they contain', async () => {
    const keys = ['a', 'A', '../../etc/passwd', 'a/b', 'telegram:1', '', '\u0000', '\ud800', '\ud801', 'é', 'e\u0301']
    const long = ['x'.repeat(1000), 'x'.repeat(1001), `sha256:${'0'.repeat(64)}`]
    for (const key of [...keys, ...long]) conversations.addMessage(key, 'user', `of ${JSON.stringify(key)}`)
    for (const key of [...keys, ...long]) {
      await conversations.save(key)
      expect(await conversations.getHistory(key)).toEqual([{ role: 'user', content: `of ${JSON.stringify(key)}` }])
    }
    expect((await readdir(home)).filter((name) => /etc|telegram|passwd/.test(name))).toEqual([])
  })

  it('never throws, logs a failure and makes the next save reject, once', async () => {
    conversations.addMessage('one', 'user', 'before')
    conversations.addFullMessage('one', { role: '', content: 'x' } as never) // a program without types may do this
    conversations.addFullMessage('one', { role: 'user', content: 7 } as never)
    conversations.addFullMessage('one', { role: 'user', content: 'x', when: new Date() })
    conversations.addMessage('one', 'user', 'x'.repeat(limits.promptBytesMax + 1))
    conversations.setHistory('one', 'none' as never)
    conversations.truncateHistory('one', Number.NaN)
    conversations.setSummary('one', undefined as never)
    conversations.addMessage(undefined as never, 'user', 'to nobody')
    conversations.addMessage('one', 'user', 'after')
    expect(problems).toHaveLength(8)
    await expect(conversations.save('one')).rejects.toMatchObject({ name: 'HoldfastError', code: 'bad_request' })
    await conversations.save('one')
    expect((await conversations.getHistory('one')).map(({ content }) => content)).toEqual(['before', 'after'])
  })

  it('rejects close after an unreported failure', async () => {
    conversations.addMessage('one', 'user', 'good')
    conversations.addFullMessage('two', { role: 'robot' } as never) // a program without types may do this
    await expect(conversations.close()).rejects.toMatchObject({ code: 'bad_request' })
    conversations.addMessage('one', 'user', 'too late')
    expect(problems.at(-1)).toMatchObject({ cause: { code: 'session_stopped' } })
    await expect(conversations.getHistory('one')).rejects.toMatchObject({ code: 'session_stopped' })
    if (kind === 'memory') return
    conversations = await open()
    expect(await conversations.getHistory('one')).toEqual([{ role: 'user', content: 'good' }])
  })

  it('handles more keys than stay loaded', async () => {
    const count = 300
    for (let n = 0; n < count; n++) conversations.addMessage(`key ${n}`, 'user', `first ${n}`)
    await Promise.all(Array.from({ length: count }, (_, n) => conversations.save(`key ${n}`)))
    for (let n = 0; n < count; n++) conversations.addMessage(`key ${n}`, 'assistant', `second ${n}`)
    await Promise.all(Array.from({ length: count }, (_, n) => conversations.save(`key ${n}`)))
    for (const n of [0, 1, 150, 299])
      expect((await conversations.getHistory(`key ${n}`)).map(({ content }) => content)).toEqual([
        `first ${n}`,
        `second ${n}`,
      ])
  })

  it('is an ordinary session: listed, counted, shown and exported', async () => {
    for (const message of talk) {
      conversations.addFullMessage('one', message)
      await conversations.save('one')
    }
    conversations.addMessage('one', 'user', 'thanks')
    await conversations.close()
    if (kind === 'memory') return
    const holdfast = await openHoldfast(options())
    const { sessions } = await holdfast.list()
    const markdown = await holdfast.exportMarkdown(sessions[0]?.id ?? '')
    await holdfast.close()
    expect(sessions).toMatchObject([{ key: 'one', title: 'what is there?', turnCount: 2, status: 'idle' }])
    for (const words of ['You are brief.', 'look', 'a ship', 'A ship.', 'thanks']) expect(markdown).toContain(words)
  })
})
