import { BranchName, type ListedBranch, MessageId, ok, TurnNumber } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createFakeHandle } from '../testing/fake-handle.ts'
import { meta, sessionId, snapshot, view } from '../testing/story.ts'
import { createSession } from './session.ts'

/** A session whose every command is answered with this. */
const answering = (result: Record<string, unknown>) => {
  const { handle, ...fake } = createFakeHandle()
  const submit: typeof handle.submit = async (command, options) => {
    await handle.submit(command, options)
    return ok({ seq: 11, result })
  }
  return { session: createSession({ ...handle, submit }), ...fake }
}

describe('the history methods of a session', () => {
  it('branch, switch and rewind, and return the branch', async () => {
    const { session, submitted } = answering({ branch: 'branch-1' })
    const as = 'tab-1'
    expect(await session.branchAt(2, { as })).toEqual({ seq: 11, branch: 'branch-1' })
    expect(await session.switchBranch(0)).toEqual({ seq: 11, branch: 'branch-1' })
    expect(await session.switchBranch('branch-1')).toEqual({ seq: 11, branch: 'branch-1' })
    expect(await session.rewind(1)).toEqual({ seq: 11, branch: 'branch-1' })
    expect(submitted).toEqual([
      [{ type: 'branchAt', turn: 2 }, { as }],
      [{ type: 'switchBranch', branch: 0 }, undefined],
      [{ type: 'switchBranch', branch: 'branch-1' }, undefined],
      [{ type: 'rewind', turn: 1 }, {}],
    ])
  })

  it('return the current branch when it is switched to itself', async () => {
    expect(await answering({}).session.switchBranch('branch-2')).toEqual({ seq: 11, branch: 'branch-2' })
  })

  it('fork the session and return the new id', async () => {
    const { session, submitted } = answering({ session: sessionId })
    const forked = { seq: 11, session: sessionId }
    expect([await session.fork(), await session.fork(3)]).toEqual([forked, forked])
    expect(submitted.map(([command]) => command)).toEqual([{ type: 'fork' }, { type: 'fork', at: 3 }])
  })

  it('list the branches', async () => {
    const at = meta.createdAt
    const branch: ListedBranch = {
      name: BranchName.parse('branch-1'),
      turns: TurnNumber.parse(2),
      messages: 5,
      at,
      differsAt: MessageId.parse(4),
    }
    const { handle } = createFakeHandle()
    expect(await createSession({ ...handle, branches: async () => ok([branch]) }).listBranches()).toEqual([branch])
  })

  it('read a branch page by page', async () => {
    const { handle, pages } = createFakeHandle()
    const session = createSession(handle)
    await session.messages({ branch: 'branch-1' })
    expect(pages.map(({ branch }) => branch)).toEqual(['branch-1', 'branch-1', 'branch-1'])
    await session.messagesWithIds({ branch: 'branch-2' })
    expect(pages.at(-1)).toMatchObject({ after: 8, branch: 'branch-2' })
  })

  it('pin and collapse messages, and return the new state', async () => {
    const { session, submitted, setState } = answering({ pinned: true, collapsed: false })
    expect(await session.togglePin(4)).toEqual({ seq: 11, pinned: true })
    expect(await session.toggleToolCollapse(5)).toEqual({ seq: 11, collapsed: false })
    expect(await session.toggleAllToolCollapses()).toEqual({ seq: 11, collapsed: false })
    expect(submitted.map(([command]) => command)).toEqual([
      { type: 'togglePin', message: 4 },
      { type: 'toggleToolCollapse', message: 5 },
      { type: 'toggleAllToolCollapses' },
    ])
    setState(snapshot(10, { view: { ...view, pins: [MessageId.parse(4)] } }))
    expect(await session.pinnedIds()).toEqual([4])
  })

  it('add messages from elsewhere', async () => {
    const compacted = { summary: '', tokensBefore: 2, tokensAfter: 1 }
    const { session, submitted } = answering({ branch: 'branch-1', ...compacted })
    const messages = [{ role: 'user', content: 'hi' }] as const
    await session.seedMessages(messages)
    await session.setHistory(messages)
    await session.appendCheckpoint(messages)
    await session.appendCheckpoint(messages, 12)
    await session.addSystemMessage('ready')
    await session.addSystemMessage('broken', 'error')
    expect(submitted.map(([command]) => command)).toEqual([
      { type: 'seedMessages', messages },
      { type: 'setHistory', messages },
      { type: 'appendCheckpoint', messages },
      { type: 'appendCheckpoint', messages, tokenCount: 12 },
      { type: 'addSystemMessage', text: 'ready', level: 'info' },
      { type: 'addSystemMessage', text: 'broken', level: 'error' },
    ])
  })

  it('compact, and undo a compaction', async () => {
    const compacted = { summary: 'They agreed.', tokensBefore: 90, tokensAfter: 10 }
    const { session, submitted } = answering({ ...compacted, tokens: 90 })
    expect(await session.compact()).toEqual({ seq: 11, ...compacted })
    expect(await session.undoCompaction()).toEqual({ seq: 11, tokens: 90 })
    await session.truncateHistory(4)
    await session.setSummary('They did not.')
    expect(submitted.map(([command]) => command)).toEqual([
      { type: 'compact' },
      { type: 'undoCompaction' },
      { type: 'truncateHistory', keepLast: 4 },
      { type: 'setSummary', summary: 'They did not.' },
    ])
  })

  it('write a summary to a file', async () => {
    const { session } = answering({ text: '# Note', path: 'notes/note.md' })
    expect(await session.summarize()).toEqual({ seq: 11, text: '# Note', path: 'notes/note.md' })
  })

  it('return the summary of the active compaction, or an empty text', async () => {
    const { handle, setState } = createFakeHandle()
    const session = createSession(handle)
    expect(await session.getSummary()).toBe('')
    setState(snapshot(10, { summary: 'They agreed.' }))
    expect(await session.getSummary()).toBe('They agreed.')
  })
})
