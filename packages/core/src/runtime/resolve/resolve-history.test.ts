import { limits, MessageId, orThrow, type SeedMessages } from '@holdfast/protocol'
import { aSession, aTool, call, say, type TestRuntime } from '@holdfast/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { lastTexts } from '../../testing/request-texts.ts'
import { type Talk, talkTo } from '../../testing/talk.ts'

let runtime: TestRuntime
let talk: Talk
beforeEach(async () => {
  runtime = await openMemoryRuntime({ script: (_, index) => [say(`answer ${index}`)] })
  talk = talkTo(runtime.handle)
})

describe('a branch', () => {
  beforeEach(async () => {
    for (const text of ['one', 'two', 'three']) await talk.ask(text)
  })

  it('starts at the end of a turn and keeps the former line under a name', async () => {
    expect(await talk.send({ type: 'branchAt', turn: 0 })).toEqual({ branch: 'branch-1' })
    expect(await talk.words()).toEqual(['one', 'answer 0'])
    expect(await talk.words('branch-1')).toEqual(['one', 'answer 0', 'two', 'answer 1', 'three', 'answer 2'])
  })

  it('is what the model sees from then on', async () => {
    await talk.send({ type: 'branchAt', turn: 0 })
    await talk.ask('another two')
    expect(lastTexts(runtime)).toEqual(['one', 'answer 0', 'another two'])
  })

  it('continues the turn numbers of its line', async () => {
    await talk.send({ type: 'branchAt', turn: 1 })
    await talk.ask('another three')
    const { meta } = orThrow(await runtime.handle.snapshot())
    expect(meta).toMatchObject({ turnCount: 3, messageCount: 6, branchCount: 1 })
  })

  it('is restored as it was left, and the line left for it is kept', async () => {
    await talk.send({ type: 'branchAt', turn: 0 })
    await talk.ask('another two')
    expect(await talk.send({ type: 'switchBranch', branch: 'branch-1' })).toEqual({ branch: 'branch-1' })
    expect(await talk.words()).toEqual(['one', 'answer 0', 'two', 'answer 1', 'three', 'answer 2'])
    expect(await talk.send({ type: 'switchBranch', branch: 0 })).toEqual({ branch: 'branch-2' })
    expect(await talk.words()).toEqual(['one', 'answer 0', 'another two', 'answer 3'])
    expect(await talk.send({ type: 'switchBranch', branch: 'branch-2' })).toEqual({})
  })

  it('keeps its name however often it is left', async () => {
    await talk.send({ type: 'branchAt', turn: 0 })
    for (let round = 0; round < 3; round++) {
      await talk.send({ type: 'switchBranch', branch: 0 })
      await talk.ask(`round ${round}`)
    }
    const branches = orThrow(await runtime.handle.branches())
    expect(branches).toHaveLength(1)
    expect(
      new Set([...branches.map(({ name }) => name), orThrow(await runtime.handle.snapshot()).view.branch]),
    ).toEqual(new Set(['branch-1', 'branch-2']))
  })

  it('is listed with its counts, and with the first message that is not on the line', async () => {
    await talk.send({ type: 'branchAt', turn: 0 })
    const [branch] = orThrow(await runtime.handle.branches())
    expect(branch).toMatchObject({ name: 'branch-1', turns: 3, messages: 6 })
    const { messages } = orThrow(await runtime.handle.page({ branch: 'branch-1' }))
    expect(messages.find(({ id }) => id === branch?.differsAt)).toMatchObject({ kind: 'user', text: 'two' })
  })

  it('is refused for an unknown turn or branch, and nothing changes', async () => {
    const before = await runtime.events()
    expect([
      await talk.refusal({ type: 'branchAt', turn: 3 }),
      await talk.refusal({ type: 'rewind', turn: 99 }),
      await talk.refusal({ type: 'switchBranch', branch: 'nowhere' }),
      await talk.refusal({ type: 'switchBranch', branch: 0 }),
    ]).toEqual(['turn_not_found', 'turn_not_found', 'branch_not_found', 'branch_not_found'])
    expect(await runtime.handle.page({ branch: 'nowhere' })).toMatchObject({ fault: { code: 'branch_not_found' } })
    expect(await runtime.events()).toEqual(before)
  })

  it('is still there after the session was unloaded', async () => {
    await talk.send({ type: 'branchAt', turn: 0 })
    await runtime.registry.unload(aSession)
    await talk.send({ type: 'switchBranch', branch: 'branch-1' })
    await talk.ask('four')
    expect(lastTexts(runtime)).toEqual(['one', 'answer 0', 'two', 'answer 1', 'three', 'answer 2', 'four'])
  })

  it('pages both ways, on the line and on a branch', async () => {
    await talk.send({ type: 'branchAt', turn: 0 })
    await talk.ask('another two')
    for (const branch of [undefined, 'branch-1']) {
      const whole = orThrow(await runtime.handle.page({ branch })).messages.map(({ id }) => id)
      const last = orThrow(await runtime.handle.page({ branch, limit: 2 }))
      const before = orThrow(await runtime.handle.page({ branch, limit: 100, before: last.before ?? undefined }))
      expect([...before.messages, ...last.messages].map(({ id }) => id)).toEqual(whole)
      const first = orThrow(await runtime.handle.page({ branch, limit: 2, after: MessageId.parse(0) }))
      const after = orThrow(await runtime.handle.page({ branch, limit: 100, after: first.after ?? undefined }))
      expect([...first.messages, ...after.messages].map(({ id }) => id)).toEqual(whole)
    }
  })
})

describe('going back', () => {
  it('keeps the later messages as a branch, where an interrupted turn can be continued', async () => {
    for (const text of ['one', 'two']) await talk.ask(text)
    expect(await talk.send({ type: 'rewind', turn: 0 })).toEqual({ branch: 'branch-1' })
    expect(await talk.words()).toEqual(['one', 'answer 0'])
    expect(await talk.refusal({ type: 'continue' })).toBe('nothing_to_continue')
  })
})

describe('what lists show of a session', () => {
  const shown = async () => {
    const { title, preview, recentText } = orThrow(await runtime.handle.snapshot()).meta
    return { title, preview, recent: recentText.split('\n') }
  }
  const first = { title: 'one', preview: 'one' }

  it('is the text of the line that it moved to', async () => {
    for (const text of ['one', 'two', 'three']) await talk.ask(text)
    const all = ['one', 'answer 0', 'two', 'answer 1', 'three', 'answer 2']
    await talk.send({ type: 'branchAt', turn: 0 })
    expect(await shown()).toEqual({ ...first, recent: all.slice(0, 2) })
    await talk.send({ type: 'switchBranch', branch: 'branch-1' })
    expect(await shown()).toEqual({ ...first, recent: all })
    await talk.send({ type: 'rewind', turn: 1 })
    expect(await shown()).toEqual({ ...first, recent: all.slice(0, 4) })
    await talk.send({ type: 'truncateHistory', keepLast: 2 })
    expect(await shown()).toEqual({ ...first, recent: all.slice(2, 4) })
    await runtime.registry.unload(aSession)
    expect(await shown()).toEqual({ ...first, recent: all.slice(2, 4) })
  })

  it('follows a new history, and a return from it', async () => {
    await talk.ask('one')
    await talk.send({ type: 'setHistory', messages: [{ role: 'user', content: 'other' }] })
    expect(await shown()).toEqual({ title: 'other', preview: 'other', recent: ['other'] })
    await talk.send({ type: 'switchBranch', branch: 'branch-1' })
    expect(await shown()).toEqual({ ...first, recent: ['one', 'answer 0'] })
    await talk.send({ type: 'rename', title: 'Mine' })
    await talk.send({ type: 'setHistory', messages: [] })
    expect(await shown()).toEqual({ title: 'Mine', preview: '', recent: [''] })
  })
})

describe('a set or cut history', () => {
  beforeEach(async () => {
    for (const text of ['one', 'two']) await talk.ask(text)
  })

  it('shows exactly the last messages, and what it hides can be brought back', async () => {
    await talk.send({ type: 'truncateHistory', keepLast: 1 })
    expect(await talk.words()).toEqual(['answer 1'])
    await talk.ask('three')
    expect(lastTexts(runtime)).toEqual(['three'])
    await talk.send({ type: 'switchBranch', branch: 'branch-1' })
    expect(await talk.words()).toEqual(['one', 'answer 0', 'two', 'answer 1'])
  })

  it('keeps the summary that was set before, also on a branch and after a return', async () => {
    const summary = 'Summary of the conversation so far:\n\nThey met.'
    await talk.send({ type: 'setSummary', summary: 'They met.' })
    await talk.send({ type: 'truncateHistory', keepLast: 0 })
    await talk.ask('three')
    expect(lastTexts(runtime)).toEqual([summary, 'three'])
    await talk.send({ type: 'branchAt', turn: 2 })
    await talk.send({ type: 'switchBranch', branch: 'branch-1' })
    await talk.send({ type: 'switchBranch', branch: 'branch-3' })
    await talk.ask('four')
    expect(lastTexts(runtime).slice(0, 2)).toEqual([summary, 'three'])
  })

  it('that is empty starts over', async () => {
    await talk.send({ type: 'truncateHistory', keepLast: 0 })
    expect(await talk.words()).toEqual([])
    await talk.ask('anew')
    expect(lastTexts(runtime)).toEqual(['anew'])
  })

  it('replaces the past, with its own turns', async () => {
    const messages = [
      { role: 'user', content: 'elsewhere' },
      { role: 'assistant', content: 'indeed', toolCalls: [{ id: 'x', tool: 'look', args: {} }] },
      { role: 'tool', toolCallId: 'x', content: 'seen' },
    ] satisfies SeedMessages
    await talk.send({ type: 'setHistory', messages })
    expect(await talk.words()).toEqual(['elsewhere', 'indeed'])
    await talk.ask('and?')
    expect(lastTexts(runtime)).toEqual(['elsewhere', 'indeed', 'call', 'seen', 'and?'])
    expect(await talk.send({ type: 'branchAt', turn: 0 })).toEqual({ branch: 'branch-2' })
    expect(await talk.words()).toEqual(['elsewhere', 'indeed'])
  })

  it('keeps a summary set by a program, but no summary of the replaced past', async () => {
    const messages = [{ role: 'user', content: 'elsewhere' }] satisfies SeedMessages
    await talk.send({ type: 'setSummary', summary: 'They met.' })
    await talk.send({ type: 'setHistory', messages })
    await talk.ask('and?')
    expect(lastTexts(runtime)).toEqual(['Summary of the conversation so far:\n\nThey met.', 'elsewhere', 'and?'])
    for (let turn = 0; turn < 5; turn++) await talk.ask(`turn ${turn}`)
    await talk.send({ type: 'compact' })
    await talk.send({ type: 'setHistory', messages })
    await talk.ask('and?')
    expect(lastTexts(runtime)).toEqual(['elsewhere', 'and?'])
  })

  it('is cut at a record that the program names', async () => {
    const [, , , second] = orThrow(await runtime.handle.page()).messages
    await talk.send({ type: 'truncateHistory', from: second?.id ?? 0 })
    expect(await talk.words()).toEqual(['two', 'answer 1'])
    expect(orThrow(await runtime.handle.snapshot()).meta.messageCount).toBe(2)
    await talk.ask('three')
    expect(lastTexts(runtime)).toEqual(['two', 'answer 1', 'three'])
    expect(await talk.refusal({ type: 'truncateHistory' })).toBe('bad_request')
    expect(await talk.refusal({ type: 'truncateHistory', from: 2, keepLast: 1 })).toBe('bad_request')
  })

  it('led by a program is sent with its system messages and late results', async () => {
    const led = (message: SeedMessages[number]) =>
      talk.send({ type: 'seedMessages', messages: [{ ...message, given: { role: message.role, content: null } }] })
    await talk.send({ type: 'setHistory', messages: [] })
    await led({ role: 'system', content: 'Be brief.' })
    await led({ role: 'user', content: 'what is there?' })
    await led({ role: 'assistant', content: '', toolCalls: [{ id: 'a', tool: 'look', args: {} }] })
    await led({ role: 'tool', content: 'a ship', toolCallId: 'a' })
    await talk.ask('and?')
    expect(lastTexts(runtime)).toEqual(['System message:\n\nBe brief.', 'what is there?', 'call', 'a ship', 'and?'])
  })

  it('can be set any number of times; the newest hidden branch can be named', async () => {
    for (let round = 0; round < limits.branchesMax + 5; round++) await talk.send({ type: 'setHistory', messages: [] })
    const branches = orThrow(await runtime.handle.branches())
    expect(branches).toHaveLength(limits.branchesMax)
    expect(branches.at(-1)?.name).toBe(`branch-${limits.branchesMax + 5}`)
  })
})

describe('a pin', () => {
  it('marks its message on every page, before and after the session was unloaded', async () => {
    await talk.ask('one')
    const [first] = orThrow(await runtime.handle.page()).messages
    expect(await talk.send({ type: 'togglePin', message: first?.id ?? 0 })).toEqual({ pinned: true })
    await runtime.registry.unload(aSession)
    expect(orThrow(await runtime.handle.page()).messages.map(({ pinned }) => pinned)).toEqual([true, false, false])
    expect(await talk.send({ type: 'togglePin', message: first?.id ?? 0 })).toEqual({ pinned: false })
  })

  it('cut off by a compaction is sent verbatim, with the result of its call', async () => {
    const seen = { type: 'ok' as const, output: { text: 'the secret number is 7' } }
    runtime = await openMemoryRuntime({
      tools: [aTool('look', async () => seen, false)],
      script: (request, index) =>
        request.purpose === 'summary' ? [say('in short')] : index === 0 ? [call('look', {})] : [say(`answer ${index}`)],
    })
    talk = talkTo(runtime.handle)
    for (const text of ['look', 'two', 'three', 'four', 'five']) await talk.ask(text)
    const pinned = orThrow(await runtime.handle.page()).messages.find(({ kind }) => kind === 'tool_call')
    await talk.send({ type: 'togglePin', message: pinned?.id ?? 0 })
    await talk.send({ type: 'compact' })
    await talk.ask('and?')
    expect(lastTexts(runtime)[0]).toBe(
      'Summary of the conversation so far:\n\nin short\n\nPinned messages from it, as they were said:\n\n[tool look] {}\nthe secret number is 7',
    )
  })
})
