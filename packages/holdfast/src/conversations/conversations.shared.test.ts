import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openConversations } from '../entry/open-conversations.ts'
import type { Holdfast } from '../holdfast.ts'
import { openHoldfast } from '../open.ts'
import type { Conversations } from './conversations.ts'

describe('conversation', () => {
  let home = ''
  const environment = () => ({ HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] })
  const options = () => ({ environment: environment(), onProblem: () => undefined })
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-shared-'))
  })
  afterEach(async () => {
    await rm(home, { recursive: true, force: true })
  })

  it('that is open in another process is written through that process, and here when that process is closed', async () => {
    const [first, second] = [await openConversations(options()), await openConversations(options())]
    const textsOf = async (conversations: Conversations) =>
      (await conversations.getHistory('one')).map(({ content }) => content)
    first.addMessage('one', 'user', 'mine')
    await first.save('one')
    second.addMessage('one', 'user', 'theirs')
    await second.save('one')
    expect([await textsOf(first), await textsOf(second)]).toEqual([
      ['mine', 'theirs'],
      ['mine', 'theirs'],
    ])
    await first.close()
    second.addMessage('one', 'user', 'again')
    await second.save('one')
    await second.close()
    await using third = await openConversations(options())
    expect(await textsOf(third)).toEqual(['mine', 'theirs', 'again'])
  })

  describe('in a runtime', () => {
    let holdfast: Holdfast
    beforeEach(async () => {
      holdfast = await openHoldfast(options())
    })
    afterEach(async () => {
      await holdfast.close()
    })

    it('takes calls in the form of services, and shows messages of any role', async () => {
      const conversations = holdfast.conversations({ workdir: home })
      conversations.addMessage('bot', 'user', 'look')
      const calls = [{ id: 'a', function: { name: 'see', arguments: '{"at":1}' } }]
      conversations.addFullMessage('bot', { role: 'assistant', content: null, tool_calls: calls })
      conversations.addFullMessage('bot', { role: 'tool', content: 'the sea', tool_call_id: 'a' })
      conversations.addMessage('bot', 'developer', 'be brief')
      conversations.addMessage('bot', 'critic', 'too long')
      conversations.addMessage('bot', 'assistant', null)
      await conversations.save('bot')
      const messages = await (await holdfast.getOrCreate('bot')).messages()
      expect(messages).toMatchObject([
        { kind: 'user', text: 'look' },
        { kind: 'tool_call', call: { tool: 'see', args: { at: 1 }, status: 'complete', result: { text: 'the sea' } } },
        { kind: 'system', text: 'be brief' },
        { kind: 'system', text: 'too long' },
      ])
      expect((await conversations.getHistory('bot')).at(-1)).toEqual({ role: 'assistant', content: null })
    })

    it('has one order, whichever of two interfaces adds to it', async () => {
      const [one, two] = [holdfast.conversations({ workdir: home }), holdfast.conversations({ workdir: home })]
      const added = Array.from({ length: 20 }, (_, index) => String(index))
      for (const [index, content] of added.entries()) (index % 2 === 0 ? one : two).addMessage('bot', 'user', content)
      const contents = async (from: typeof one) => (await from.getHistory('bot')).map(({ content }) => content)
      expect([await contents(one), await contents(two)]).toEqual([added, added])
      two.truncateHistory('bot', 1)
      expect(await contents(one)).toEqual(['19'])
      await one.close()
      two.addMessage('bot', 'user', 'later')
      await two.close()
      expect(await contents(holdfast.conversations())).toEqual(['19', 'later'])
    })

    it('continues with one of our models, which gets its system message, calls and results', async () => {
      const conversations = holdfast.conversations({ workdir: home })
      conversations.addMessage('one', 'system', 'Be brief.')
      conversations.addMessage('one', 'user', 'what is there?')
      conversations.addFullMessage('one', {
        role: 'assistant',
        content: 'Let me see.',
        toolCalls: [{ id: 'a', tool: 'look', args: {} }],
      })
      await conversations.save('one')
      conversations.addFullMessage('one', { role: 'tool', content: 'a ship', toolCallId: 'a' })
      await conversations.save('one')
      const session = await holdfast.getOrCreate('one')
      await session.sendPrompt('list')
      for await (const frame of session.subscribe({ after: 0 }))
        if (frame.type === 'record' && frame.record.event.type === 'turn.ended' && frame.record.event.turn === 1) break
      const history = await conversations.getHistory('one')
      expect(history.slice(0, 5)).toEqual([
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'what is there?' },
        { role: 'assistant', content: 'Let me see.', toolCalls: [{ id: 'a', tool: 'look', args: {} }] },
        { role: 'tool', content: 'a ship', toolCallId: 'a' },
        { role: 'user', content: 'list' },
      ])
      expect(history.at(-1)).toMatchObject({ role: 'assistant' })
      const used = history.find((one) => one.role === 'assistant' && one.toolCalls && one.content !== 'Let me see.')
      const [call] = (used?.toolCalls ?? []) as readonly { readonly id: string }[]
      expect(history.find(({ toolCallId }) => toolCallId === call?.id)).toMatchObject({ role: 'tool' })
      // And shows exactly the last of them, where they are an answer of that model.
      conversations.truncateHistory('one', 1)
      expect(await conversations.getHistory('one')).toEqual(history.slice(-1))
      await conversations.close()
    })
  })
})
