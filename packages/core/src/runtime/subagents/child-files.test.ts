import { type FileChange, type Frame, orThrow, type SessionHandle } from '@holdfast/protocol'
import { aSubagentTool, aTool, call, createGate, type ScriptedAnswer, say, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../ports/provider.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { createLocalSession } from '../api/local-session.ts'
import { createNetChanges } from './child-files.ts'

const child = 'ses_00000000000000000000000001' as Parameters<ReturnType<typeof createNetChanges>['list']>[0] // only passed on
const other = 'ses_00000000000000000000000002' as typeof child
const created = (path: string): FileChange => ({ path, change: 'created', before: { type: 'absent' } })
const modified = (path: string): FileChange => ({ path, change: 'modified' })
const deleted = (path: string): FileChange => ({ path, change: 'deleted' })
const moved = (from: string, path: string): FileChange => ({ path, from, change: 'moved' })
const net = (...all: readonly FileChange[]) => {
  const changes = createNetChanges()
  for (const change of all) changes.add(change)
  return changes.list(child).map(({ path, change }) => `${change} ${path}`)
}

describe('the changes of a subagent', () => {
  it('are one for each file, from before the first until after the last', () => {
    expect(net(created('a'), modified('a'), modified('b'))).toEqual(['created a', 'modified b'])
    expect(net(modified('a'), deleted('a'))).toEqual(['deleted a'])
    expect(net(deleted('a'), created('a'))).toEqual(['modified a'])
    expect(net(created('a'), deleted('a'), created('b'))).toEqual(['created b'])
    expect(net(created('a'), deleted('a'), created('a'))).toEqual(['created a'])
  })

  it('are not joined over a move', () => {
    expect(net(modified('a'), moved('a', 'b'), modified('b'), created('a'))).toEqual([
      ...['modified a', 'moved b', 'modified b', 'created a'],
    ])
  })

  it('say which subagent made them, also one further down', () => {
    const changes = createNetChanges()
    changes.add(created('a'))
    changes.add({ ...created('b'), child: other })
    changes.add({ ...modified('b'), child: other })
    expect(changes.list(child).map((change) => change.child)).toEqual([child, other])
  })
})

const writeTool = () => ({
  ...aTool('write', async (args, _, { begin }) => {
    await begin()
    return { type: 'ok', output: { text: 'written' }, files: [created(String(args['path']))] }
  }),
  isDestructive: false,
})

/** Answers by what was said last. */
const answering =
  (answers: Readonly<Record<string, () => ScriptedAnswer>>) =>
  (request: ModelRequest): ScriptedAnswer => {
    const last = JSON.stringify(request.messages.at(-1))
    return Object.entries(answers).find(([words]) => last.includes(words))?.[1]() ?? [say('Done.')]
  }
const open = (answers: Readonly<Record<string, () => ScriptedAnswer>>) =>
  openMemoryRuntime({ script: answering(answers), tools: [aSubagentTool(), writeTool()] })

async function until(handle: SessionHandle, fits: (frame: Frame) => boolean): Promise<Frame> {
  for await (const frame of handle.subscribe({ after: 0 })) if (fits(frame)) return frame
  throw new Error('the stream ended first')
}
const isRecord = (type: string) => (frame: Frame) => frame.type === 'record' && frame.record.event.type === type
const touched = async (handle: SessionHandle) =>
  orThrow(await handle.fileChanges()).changes.map((change) => [change.path, change.call, change.child])

describe('files that a subagent changed', () => {
  it('are changes of the call that waited for it, and of those above', async () => {
    const { handle, send } = await open({
      go: () => [call('subagent', { task: 'level one' })],
      'level one': () => [call('write', { path: 'a' }), call('subagent', { task: 'level two' })],
      'level two': () => [call('write', { path: 'b' })],
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await until(handle, isRecord('turn.ended'))
    const all = orThrow(await handle.subagents())
    const [one, two] = [all.find(({ depth }) => depth === 1)?.id, all.find(({ depth }) => depth === 2)?.id]
    const { messages } = orThrow(await handle.page())
    const called = messages.find((message) => message.kind === 'tool_call')
    expect((await touched(handle)).toSorted()).toEqual([
      ['a', called?.id, one],
      ['b', called?.id, two],
    ])
    expect(called).toMatchObject({ call: { files: [{ path: 'a' }, { path: 'b' }] } })
  })

  it('in the background are changes of the call that started it', async () => {
    const { handle, send } = await open({
      go: () => [call('subagent', { task: 'please write', background: true })],
      'please write': () => [call('write', { path: 'a' })],
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    await until(handle, isRecord('files.touched'))
    const [{ id } = { id: null }] = orThrow(await handle.subagents())
    expect(await touched(handle)).toEqual([['a', expect.any(Number), id]])
  })

  it('are also known of one that was aborted with its parent', async () => {
    const gate = createGate()
    const { handle, send, registry } = await open({
      go: () => [call('subagent', { task: 'please write' })],
      'please write': () => [call('write', { path: 'a' })],
      written: () => [waitAt(gate)],
    })
    await send('1', { type: 'sendPrompt', content: 'go' })
    const frame = await until(handle, (one) => one.type === 'child')
    const id = frame.type === 'child' && frame.view ? frame.view.id : handle.id
    await until(createLocalSession(registry, id), isRecord('call.settled'))
    await send('2', { type: 'abort' })
    await until(handle, isRecord('files.touched'))
    expect(await touched(handle)).toEqual([['a', expect.any(Number), id]])
  })
})
