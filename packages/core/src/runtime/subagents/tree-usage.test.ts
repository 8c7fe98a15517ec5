import { noUsage, ok, orThrow, type SessionId, type Usage } from '@holdfast/protocol'
import { finish, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { talkTo } from '../../testing/talk.ts'
import { createLocalSession } from '../api/local-session.ts'
import { createLocalSessions } from '../api/local-sessions.ts'

/** Opens a runtime whose n-th answer has the n-th price. */
async function openTree(costs: readonly (number | null)[]) {
  const usages = costs.map((cost): Usage => ({ ...noUsage, input: 100, output: 10, cost }))
  const runtime = await openMemoryRuntime({ script: usages.map((usage) => [say('Hi.'), finish('stop', usage)]) })
  const sessions = createLocalSessions(runtime.registry)
  const startFor = async (parent: SessionId) => {
    const handle = orThrow(await sessions.start({ workdir: '/work', parent }))
    await talkTo(handle).ask('go')
    return handle
  }
  await talkTo(runtime.handle).ask('go')
  return { ...runtime, sessions, startFor }
}

describe('the usage of a session tree', () => {
  it('includes the session and all its descendants, but no forks', async () => {
    const { handle, startFor, registry } = await openTree([1, 2, 4, 8, 16])
    const child = await startFor(handle.id)
    await startFor(child.id)
    const { session } = await talkTo(handle).send({ type: 'fork' })
    await talkTo(createLocalSession(registry, session as SessionId)).ask('go') // a fork returns an id
    expect(await handle.treeUsage()).toEqual(
      ok({ usage: { ...noUsage, input: 300, output: 30, cost: 7 }, sessions: 3 }),
    )
    expect(await child.treeUsage()).toMatchObject({ value: { usage: { cost: 6 }, sessions: 2 } })
  })

  it('includes trashed sessions', async () => {
    const { handle, startFor, sessions } = await openTree([1, 2])
    const child = await startFor(handle.id)
    orThrow(await sessions.delete(child.id, { force: true }))
    expect(await handle.treeUsage()).toMatchObject({ value: { usage: { cost: 3 }, sessions: 2 } })
  })

  it('has an unknown cost when the price of one call is unknown, never 0', async () => {
    const { handle, startFor } = await openTree([1, null])
    await startFor(handle.id)
    expect(await handle.treeUsage()).toMatchObject({ value: { usage: { input: 200, cost: null } } })
  })
})
