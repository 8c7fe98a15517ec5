import { type CommandType, commandTypes, type Frame, type SessionHandle } from '@holdfast/protocol'
import { aTool, isRecord, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { eachCommand } from '../../testing/each-command.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'

/** Attaches a client; it stays attached until its stream is closed. */
async function attach(handle: SessionHandle, client: string): Promise<AsyncGenerator<Frame>> {
  const frames = handle.subscribe({ client })[Symbol.asyncIterator]() as AsyncGenerator<Frame>
  await frames.next()
  return frames
}

const codeOf = (answer: Awaited<ReturnType<SessionHandle['submit']>>) => (answer.ok ? 'ok' : answer.fault.code)

/** The embedding program sends without a name, but only a named client can take control. */
const nameless: Partial<Record<CommandType, string>> = {
  editQueueEntry: 'queue_entry_not_found',
  removeQueueEntry: 'queue_entry_not_found',
  reorderQueue: 'queue_entry_not_found',
  respondToApproval: 'no_pending_approval',
  stopBackgroundShell: 'not_found',
  continue: 'nothing_to_continue',
  cycleModel: 'no_rotation',
  setBoundary: 'bad_boundary',
  activateSkill: 'skill_not_found',
  retryServer: 'not_found',
  deactivateSkill: 'skill_not_active',
  branchAt: 'turn_not_found',
  rewind: 'turn_not_found',
  restoreFiles: 'turn_not_found',
  fork: 'turn_not_found',
  switchBranch: 'branch_not_found',
  togglePin: 'message_not_found',
  toggleToolCollapse: 'message_not_found',
  compact: 'nothing_to_compact',
  undoCompaction: 'nothing_to_compact',
  summarize: 'nothing_to_summarize',
  claimDriver: 'not_subscribed',
  handOver: 'not_subscribed',
}

describe.each(commandTypes)('%s', (type) => {
  it('is refused to a client that does not drive, and changes nothing', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    const streams = [await attach(runtime.handle, 'editor'), await attach(runtime.handle, 'watcher')]
    const before = await runtime.events()
    const ask = async (as: string) => codeOf(await runtime.handle.submit(eachCommand[type], { as }))
    expect([await ask('watcher'), await ask('stranger')]).toEqual([
      'not_driver',
      type === 'abort' ? 'not_driver' : 'not_subscribed', // whoever may drive may abort without a seat
    ])
    expect(await runtime.events()).toEqual(before)
    for (const stream of streams) await stream.return(undefined)
  })

  it('is accepted from the embedding program without a driver check', async () => {
    const shell = aTool('shell', async () => ({ type: 'ok', output: { text: '' } })) // setToolTrust names it
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]], tools: [shell] })
    const stream = await attach(runtime.handle, 'editor')
    expect(codeOf(await runtime.handle.submit(eachCommand[type]))).toBe(nameless[type] ?? 'ok')
    await stream.return(undefined)
  })

  it('is refused once the process closes', async () => {
    const runtime = await openMemoryRuntime({ script: [[say('Hi.')]] })
    await runtime.send('a', { type: 'sendPrompt', content: 'go' })
    await runtime.frame(isRecord('turn.ended'))
    await runtime.registry.close()
    const before = await runtime.events()
    expect(codeOf(await runtime.send('b', eachCommand[type]))).toBe('session_stopped')
    expect(await runtime.events()).toEqual(before)
  })
})
