import { type Frame, orThrow, type StoredFileChange } from '@holdfast/protocol'
import { aTool, call, isRecord, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { createLocalSession } from './local-session.ts'

/** A tool that says it changed the named file. */
const touch = aTool(
  'touch',
  async ({ path }, _, { begin }) => {
    await begin()
    return {
      type: 'ok',
      output: { text: 'done' },
      files: [{ path: String(path), change: 'created', before: { type: 'absent' } }],
    }
  },
  false,
)
const idle = isRecord('turn.ended')
const secondTurnEnded = (frame: Frame) =>
  frame.type === 'record' && frame.record.event.type === 'turn.ended' && frame.record.event.turn === 1
const paths = (changes: readonly StoredFileChange[]) => changes.map(({ path }) => path)

describe('the file changes of a session', () => {
  it('are read in pages, newest first', async () => {
    const answers = ['a', 'b', 'c'].map((path) => [call('touch', { path })])
    const runtime = await openMemoryRuntime({ tools: [touch], script: [...answers, [say('done')]] })
    await runtime.send('1', { type: 'sendPrompt', content: 'go' })
    await runtime.frame(idle)
    const first = orThrow(await runtime.handle.fileChanges({ limit: 2 }))
    expect(first.changes).toMatchObject([
      { path: 'c', change: 'created', before: { type: 'absent' } },
      { path: 'b', change: 'created' },
    ])
    const rest = orThrow(await runtime.handle.fileChanges({ before: first.before ?? 0 }))
    expect([paths(rest.changes), rest.before]).toEqual([['a'], null])
  })

  it('do not include those of the session it was forked from', async () => {
    const script = [[call('touch', { path: 'a' })], [say('done')], [call('touch', { path: 'b' })], [say('done')]]
    const runtime = await openMemoryRuntime({ tools: [touch], script })
    await runtime.send('1', { type: 'sendPrompt', content: 'go' })
    await runtime.frame(idle)
    const { result } = orThrow(await runtime.send('2', { type: 'fork' }))
    const fork = createLocalSession(runtime.registry, result['session'] as typeof runtime.handle.id)
    expect(orThrow(await fork.fileChanges())).toEqual({ changes: [], before: null })
    orThrow(await fork.submit({ type: 'sendPrompt', content: 'on' }))
    for await (const frame of fork.subscribe({ after: 0 })) if (secondTurnEnded(frame)) break
    expect(paths(orThrow(await fork.fileChanges()).changes)).toEqual(['b'])
  })
})
