import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectSessions } from '@holdfast/client'
import { type Frame, orThrow, type SessionHandle } from '@holdfast/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connect } from '../../../packages/holdfast/src/store/postgres/connect/connect.ts'
import { parsePostgresUrl } from '../../../packages/holdfast/src/store/postgres/connect/postgres-url.ts'
import { type ClusterProcess, startThreeNodes, type ThreeNodes } from '../cluster/three-nodes.ts'

const termMs = 1500
let home = ''
let cluster: ThreeNodes

beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'hf-dies-')))
  cluster = await startThreeNodes(home, termMs, { DEMO_PACE: '1' })
})
afterAll(async () => {
  await cluster?.close()
  await rm(home, { recursive: true, force: true })
})

const sessionsAt = ({ server }: ClusterProcess) => {
  if (!server) throw new Error('the node runs')
  return connectSessions({ url: server.url, token: cluster.token })
}

/** Follows a session until a frame is the one, and returns all frames. */
async function follow(handle: SessionHandle, isLast: (frame: Frame) => boolean): Promise<readonly Frame[]> {
  const frames: Frame[] = []
  for await (const frame of handle.subscribe({ after: 0 })) {
    frames.push(frame)
    if (isLast(frame)) break
  }
  return frames
}

const isOf = (type: string) => (frame: Frame) => frame.type === 'record' && frame.record.event.type === type
const seqsOf = (frames: readonly Frame[]) =>
  frames.flatMap((frame) => (frame.type === 'record' ? [frame.record.seq] : []))

/** Returns the text of running answers that is in the database. */
async function savedDrafts(): Promise<readonly string[]> {
  const database = await connect(orThrow(parsePostgresUrl(cluster.database.url(cluster.schema))))
  const rows = await database.read('select parts from @draft')
  await database.close()
  return rows.map(({ parts }) => String(parts))
}

it('a node that dies leaves questions, drafts and interrupted calls to the next, and its followers miss nothing', {
  timeout: 120_000,
}, async () => {
  const [dying, left] = cluster.nodes
  if (!dying || !left) throw new Error('there are three nodes')
  const start = async (approvals: 'all' | 'none', content: string) => {
    const handle = orThrow(await sessionsAt(dying).start({ workdir: home, model: 'demo/agent', approvals }))
    orThrow(await handle.submit({ type: 'sendPrompt', content }))
    return { before: handle, after: orThrow(await sessionsAt(left).open(handle.id)) }
  }
  const asking = await start('all', 'run echo approved')
  const calling = await start('none', 'run sleep 600')
  const talking = await start('none', 'count to 100000')
  await follow(asking.after, isOf('approval.asked'))
  await follow(calling.after, isOf('call.started'))
  // Attached at another node, without a command of its own.
  const followed = [calling, talking].map(({ after }) => follow(after, isOf('turn.ended')))
  await expect.poll(savedDrafts).toEqual([expect.stringContaining('1')])

  await cluster.kill(dying)

  const [called, talked] = await Promise.all(followed)
  for (const frames of [called, talked]) {
    const seqs = seqsOf(frames ?? [])
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
    expect(frames?.at(-1)).toMatchObject({ record: { event: { reason: 'interrupted' } } })
  }
  expect(called?.filter(isOf('call.settled'))).toMatchObject([
    { record: { event: { outcome: { type: 'interrupted' } } } },
  ])
  const { messages } = orThrow(await talking.after.page())
  expect(messages.filter(({ kind }) => kind === 'assistant')).toMatchObject([
    { interrupted: true, text: expect.stringContaining('1') },
  ])

  const view = orThrow(await asking.after.state(['pendingApprovals']))
  expect(view.pendingApprovals).toHaveLength(1)
  orThrow(await asking.after.submit({ type: 'respondToApproval', decision: 'approve' }))
  const answered = await follow(asking.after, isOf('turn.ended'))
  expect(answered.at(-1)).toMatchObject({ record: { event: { reason: 'done' } } })
  expect(answered.filter(isOf('call.started'))).toHaveLength(1)
})
