import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openHoldfast } from './open.ts'

it('keeps the store and its mirror out of reach of file tools, also in the working directory', async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-own-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const workdir = join(base, 'work')
  mkdirSync(workdir)
  const environment = { HOLDFAST_HOME: join(base, 'home'), DEMO_PACE: '0', HOLDFAST_LOCAL_MODELS: 'off' }
  const store = `sqlite:${join(workdir, 'sessions.db')}`
  await using holdfast = await openHoldfast({ store, mirror: join(workdir, 'mirror'), environment })
  const session = await holdfast.startSession({ workdir, approvals: 'none' })
  for (const path of ['sessions.db', 'sessions.db-wal', `mirror/${session.id}.jsonl`])
    await session.prompt(`read ${path}`).text()
  const calls = (await session.messages()).flatMap((one) => (one.kind === 'tool_call' ? [one.call] : []))
  expect(calls.map(({ result }) => result?.text.split(':', 1)[0])).toEqual(
    Array.from({ length: 3 }, () => 'outside_workdir'),
  )
})
