import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { connectHoldfast } from '@holdfast/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ServerProcess, startServerProcess } from './server-process.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-stop-'))
  await mkdir(join(folder, 'work'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const connect = ({ url, token }: ServerProcess) => connectHoldfast(url, token)

it('a server that is stopped parks its turns, keeps open questions, and gives up its sessions', async () => {
  const home = join(folder, 'home')
  const first = await startServerProcess({ home, env: { DEMO_PACE: '0.2' } })
  expect((await fetch(`${first.url}/v1/ready`)).status).toBe(200)
  const before = connect(first)
  const options = { workdir: join(folder, 'work'), model: 'demo/agent' }
  const [counting, asking] = [await before.startSession(options), await before.startSession(options)]
  await asking.sendPrompt('write hello.txt: hello')
  for await (const frame of asking.subscribe({ after: 0 }))
    if (frame.type === 'record' && frame.record.event.type === 'approval.asked') break
  await counting.sendPrompt('count to 5000')
  for await (const frame of counting.subscribe({ after: 0 })) if (frame.type === 'delta' && frame.kind === 'text') break
  expect(await first.stop()).toBe(0)

  const database = new DatabaseSync(join(home, 'data/holdfast.db'), { readOnly: true })
  expect(database.prepare('select count(*) as n from session where owner is not null').get()).toEqual({ n: 0 })
  expect(database.prepare('select count(*) as n from node').get()).toEqual({ n: 0 })
  database.close()

  const second = await startServerProcess({ home })
  const after = connect(second)
  const parked = await after.getSession(counting.id)
  expect((await parked.snapshot()).view).toMatchObject({ status: 'idle', lastTurn: { reason: 'interrupted' } })
  await parked.continue()
  const waiting = await after.getSession(asking.id)
  const [question] = (await waiting.snapshot()).view.pendingApprovals
  expect(question?.tool).toBe('write_file')
  expect(await second.stop()).toBe(0)
})
