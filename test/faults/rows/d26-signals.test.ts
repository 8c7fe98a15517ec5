import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { RemoteSessions } from '@holdfast/client'
import { type Frame, orThrow, type SessionHandle, SessionId } from '@holdfast/protocol'
import { openFileBlobs } from 'holdfast/store'
import { expect, it, onTestFinished } from 'vitest'
import { type ServerProcess, startServerProcess } from '../../e2e/server-process.ts'
import { type Shown, verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { evidenceOf } from '../session-evidence.ts'
import { openStore } from '../subject/store.ts'
import { digestOf } from '../workload.ts'

const scratch = useScratch({ inMemory: true })
const kinds = ['sqlite', 'jsonl'] as const
type Kind = (typeof kinds)[number]

async function startServer(kind: Kind) {
  const home = scratch.directory()
  const directory = join(home, 'data')
  const args = kind === 'jsonl' ? ['--store', `jsonl:${directory}`] : []
  const server = await startServerProcess({ home, args, env: { DEMO_PACE: '1' } })
  onTestFinished(() => void server.process.kill('SIGKILL'))
  return { server, directory }
}

/** Reads the server's output line by line, until its stream ends. */
async function* wordsOf({ process: { stderr } }: ServerProcess): AsyncGenerator<string> {
  if (stderr) yield* createInterface({ input: stderr })
}

async function started(sessions: RemoteSessions, content: string): Promise<SessionHandle> {
  const workdir = scratch.directory()
  mkdirSync(workdir)
  const handle = orThrow(await sessions.start({ workdir }))
  orThrow(await handle.submit({ type: 'sendPrompt', content }))
  return handle
}

/** Returns the frames up to one of this kind. */
async function seenUntil(handle: SessionHandle, isIt: (frame: Frame) => boolean): Promise<Shown> {
  const digests: string[] = []
  for await (const frame of handle.subscribe({ after: 0 })) {
    if (frame.type === 'record') digests.push(digestOf(frame.record))
    if (isIt(frame)) return { session: SessionId.parse(handle.id), after: 0, digests }
  }
  throw new Error('the stream ended before the frame')
}
const isRecord = (type: string) => (frame: Frame) => frame.type === 'record' && frame.record.event.type === type

it.each(kinds.flatMap((kind) => [[kind, 'SIGTERM'] as const, [kind, 'SIGINT'] as const]))(
  'D26 %s %s while an answer streams and a tool runs: stops both in time and saves the text',
  async (kind, signal) => {
    const { server, directory } = await startServer(kind)
    const working = await started(server.sessions, 'run echo begun; sleep 600')
    await seenUntil(working, isRecord('approval.asked'))
    orThrow(await working.submit({ type: 'respondToApproval', decision: 'approve' }))
    const talking = await started(server.sessions, 'count to 5000')
    const shown = [
      await seenUntil(working, isRecord('call.started')),
      await seenUntil(talking, ({ type }) => type === 'delta'),
    ]
    const words = Array.fromAsync(wordsOf(server))
    const ended = once(server.process, 'exit')
    server.process.kill(signal)
    expect(await ended).toEqual([0, null])
    // The server waits two seconds, and reports what did not stop in that time.
    expect((await words).filter((line) => line.includes('in time'))).toEqual([])

    const store = orThrow(await openStore(kind, directory))
    const blobs = orThrow(await openFileBlobs(join(directory, 'blobs')))
    const sessions = []
    for (const { session } of shown) sessions.push(await evidenceOf(store, blobs, session))
    const outcomes = await store.read(SessionId.parse(working.id), { after: 0, limit: 1000, types: ['call.settled'] })
    expect(outcomes).toMatchObject([{ event: { outcome: { type: 'interrupted' } } }])
    await store.close()
    expect((await verify({ location: { kind, directory }, shown, sessions })).violations).toEqual([])
  },
)

it('D26 a second SIGINT ends the server at once', async () => {
  const { server } = await startServer('jsonl')
  // An incomplete request.
  const { port } = new URL(server.url)
  const socket = connect(Number(port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined) // the server closes it
  const authorization = `authorization: Bearer ${server.token}`
  const head = ['POST /v1/sessions HTTP/1.1', `host: 127.0.0.1:${port}`, authorization, 'content-length: 9']
  socket.write(`${[...head, 'content-type: application/json', 'expect: 100-continue'].join('\r\n')}\r\n\r\n`)
  await once(socket, 'data') // the server has answered
  const ended = once(server.process, 'exit')
  server.process.kill('SIGINT')
  for await (const line of wordsOf(server)) if (line.includes('Ctrl-C again')) break
  server.process.kill('SIGINT')
  expect(await ended).toEqual([null, 'SIGINT'])
})
