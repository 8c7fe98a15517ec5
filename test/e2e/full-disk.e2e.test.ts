import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectSessions, createLiveView, type LiveView } from '@holdfast/client'
import { orThrow, type Recorded, type SessionHandle, type SessionId } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { processDisk } from './process-disk.ts'
import { bin, type ServerProcess, startServerProcess } from './server-process.ts'

describe.skipIf(!processDisk.canBeFilled).each([
  ['sqlite', (home: string) => `sqlite:${join(home, 'here', 'holdfast.db')}`],
  ['jsonl', (home: string) => `jsonl:${join(home, 'here')}`],
  // Core's full-disk.test.ts checks the timing with a virtual clock; these tests only wait.
])('a server whose disk is full (%s)', (_, storeIn) => {
  let home = ''
  let workdir = ''
  let server: ServerProcess
  let pid: number | undefined
  const views: LiveView[] = []

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-full-'))
    workdir = join(home, 'work')
    await mkdir(workdir)
    server = await startServerProcess({ home, args: ['--store', storeIn(home)] })
    pid = server.process.pid
  })
  afterEach(async () => {
    for (const view of views.splice(0)) view.close()
    processDisk.makeRoom(pid)
    await server.stop()
    await rm(home, { recursive: true, force: true })
  })

  async function watch(id: SessionId): Promise<LiveView> {
    const view = createLiveView(orThrow(await connectSessions(server).open(id)))
    views.push(view)
    await until([view], () => view.seq > 0)
    return view
  }

  it('reports it to every client, refuses prompts, loses nothing and recovers', async () => {
    const session = orThrow(await server.sessions.start({ workdir }))
    const [one, two] = [await watch(session.id), await watch(session.id)]
    const both = [one, two]
    const wait = 'run echo ran >> ran.txt; echo begun; while [ ! -e go ]; do sleep 0.02; done; echo through'
    orThrow(await session.submit({ type: 'sendPrompt', content: wait }))
    await until(both, () => one.view?.pendingApprovals.length === 1)
    orThrow(await session.submit({ type: 'respondToApproval', decision: 'approve' }))
    await until(both, () => one.live.some(({ kind, text }) => kind === 'output' && text.includes('begun')))

    processDisk.fill(pid)
    await writeFile(join(workdir, 'go'), '')
    await until(both, () => both.every(({ storageError }) => storageError !== null))
    const refused = await session.submit({ type: 'sendPrompt', content: 'and then?' })
    expect(refused).toMatchObject({
      fault: {
        code: 'storage_error',
        message: expect.stringMatching(/cannot be used: the disk.*Your command was not accepted/),
      },
    })
    expect(orThrow(await session.snapshot())).toMatchObject({
      view: { status: 'tool_executing', queue: [] },
      here: { storageError: one.storageError },
    })

    processDisk.makeRoom(pid)
    await until(both, () => both.every(({ storageError }) => storageError === null))
    await until(both, () => both.every(({ view }) => view?.status === 'idle'))
    expect(await readFile(join(workdir, 'ran.txt'), 'utf8')).toBe('ran\n')
    const records = await recordsOf(session, one.seq)
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1))
    expect(records.filter(({ event }) => event.type === 'call.settled')).toMatchObject([
      { event: { outcome: { type: 'ok', output: { text: expect.stringContaining('through') } } } },
    ])
    expect(records.at(-1)).toMatchObject({ event: { type: 'turn.ended', reason: 'done' } })
    expect(one.messages).toEqual(two.messages)
  })

  it('reports a refused prompt, and that there is space again, without another prompt', async () => {
    const session = orThrow(await server.sessions.start({ workdir }))
    const both = [await watch(session.id), await watch(session.id)]
    orThrow(await session.submit({ type: 'sendPrompt', content: 'count to 2' }))
    await until(both, () => both.every(({ view }) => view?.lastTurn?.reason === 'done'))
    const { seq } = orThrow(await session.snapshot())

    processDisk.fill(pid)
    expect(await session.submit({ type: 'sendPrompt', content: 'count to 3' })).toMatchObject({ ok: false })
    await until(both, () => both.every(({ storageError }) => storageError !== null))
    processDisk.makeRoom(pid)
    await until(both, () => both.every(({ storageError }) => storageError === null))
    expect(orThrow(await session.snapshot()).seq).toBe(seq)

    orThrow(await session.submit({ type: 'sendPrompt', content: 'count to 3' }))
    await until(both, () => both.every(({ meta, view }) => meta?.turnCount === 2 && view?.status === 'idle'))
    const records = await recordsOf(session, both[0]?.seq ?? 0)
    expect(records.filter(({ event }) => event.type === 'user.said')).toHaveLength(2)
  })

  it('refuses to start, and gives the path and the reason', async () => {
    const other = join(home, 'other')
    const args = ['--fsize=0:', process.execPath, bin, 'run', 'hi', '--store', storeIn(other)]
    const started = await new Promise<{ readonly code: unknown; readonly stderr: string }>((resolve) => {
      const env = { ...process.env, HOLDFAST_HOME: other }
      execFile('prlimit', args, { cwd: workdir, env }, (error, _, stderr) => resolve({ code: error?.code, stderr }))
    })
    expect(started.code).toBe(1)
    expect(started.stderr).toContain(join(other, 'here'))
    expect(started.stderr).toMatch(/cannot be used: the disk/)
  })
})

/** Resolves when the condition holds. */
function until(views: readonly LiveView[], isWanted: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!isWanted()) return
      for (const stop of stops) stop()
      resolve()
    }
    const stops = views.map((view) => view.subscribe(check))
    check()
  })
}

async function recordsOf(session: SessionHandle, upTo: number): Promise<readonly Recorded[]> {
  const records: Recorded[] = []
  for await (const frame of session.subscribe({ after: 0 })) {
    if (frame.type === 'record') records.push(frame.record)
    if (records.length >= upTo) break
  }
  return records
}
