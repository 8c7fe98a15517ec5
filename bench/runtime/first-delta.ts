import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createAnthropic } from '@ai-sdk/anthropic'
import { orThrow } from '@holdfast/protocol'
import type { Session } from '../../packages/holdfast/src/entry/index.ts'
import type { ServedHoldfast } from '../../packages/holdfast/src/holdfast.ts'
import { open } from '../../packages/holdfast/src/open.ts'
import { hashToken, openServer } from '../../packages/holdfast/src/server/index.ts'
import { startFakeService } from '../fixtures/fake-service.ts'
import type { FromReader, ToReader } from '../fixtures/frame-reader.ts'
import { beats, latenessOf, staggerMs } from '../fixtures/metronome.ts'
import { type RememberedModel, rememberOptions } from '../fixtures/remembered-model.ts'
import type { Measurement } from '../measurement.ts'
import { number, type Row } from '../table.ts'

const sessions = 50
const turnsPerBlock = 4
const token = 'bench-token'

/** Who reads the answer: a reader of the model library, a subscriber in the process, a client of the server elsewhere. */
type Side = 'bare' | 'library' | 'server'
const sides: readonly Side[] = ['bare', 'library', 'server']

export type FirstDeltaFigures = {
  /** From the first byte of the service to the first delta that the reader receives, over all turns. */
  readonly [side in Side]: { readonly p50Ms: number; readonly p99Ms: number; readonly turns: number }
}

type Turn = () => Promise<readonly number[]>
type Readers = { readonly turns: readonly Turn[]; leave(): Promise<void> }

/**
 * Measures many sessions that stream at once, each with one reader. The sides take turns in blocks, and each block begins
 * with another side. The clock of a word starts in the service process, before its first byte is written to the socket.
 * Throws if a word is lost, duplicated or out of order.
 */
async function benchFirstDelta({
  dir,
  rounds,
}: {
  readonly dir: string
  readonly rounds: number
}): Promise<FirstDeltaFigures> {
  await using service = await startFakeService({ deltas: beats })
  const remembered = rememberOptions(createAnthropic({ apiKey: 'none', baseURL: `${service.url}/v1` })('metronome'))
  await using holdfast = orThrow(
    await open({
      store: `sqlite:${join(dir, 'first-delta.db')}`,
      environment: { HOLDFAST_HOME: dir },
      models: { 'bench/metronome': remembered.model },
    }),
  )
  await using reader = await startServer(holdfast)
  const begin = {
    library: () => subscribe(holdfast, dir),
    server: () => reader.follow(dir),
    bare: async () => readBare(remembered),
  }
  const late: { readonly [side in Side]: number[] } = { library: [], server: [], bare: [] }
  await runBlock(await begin.library()) // not counted: compiles code, opens connections
  for (let round = 0; round < rounds * sides.length; round++) {
    const side = sides[(round + Math.floor(round / sides.length)) % sides.length] ?? 'bare'
    late[side].push(...(await runBlock(await begin[side]())))
  }
  return { library: figuresOf(late.library), server: figuresOf(late.server), bare: figuresOf(late.bare) }
}

/** Runs a block: all readers at once, their starts staggered. Returns how late the first word of each turn arrived. */
async function runBlock({ turns, leave }: Readers): Promise<readonly number[]> {
  await Promise.all(turns.map((turn) => turn())) // not counted: a session's first turn stores the instructions
  const late: number[] = []
  await Promise.all(
    turns.map(async (turn, index) => {
      await delay(staggerMs(index))
      for (let round = 0; round < turnsPerBlock; round++) late.push((await turn())[0] ?? Number.NaN)
    }),
  )
  await leave()
  return late
}

const startSessions = (holdfast: ServedHoldfast, workdir: string) =>
  Promise.all(Array.from({ length: sessions }, () => holdfast.startSession({ workdir, model: 'bench/metronome' })))

const prompt = 'Say a hundred words.'

/** Each block has new sessions, so that all requests have about the same length. */
async function subscribe(holdfast: ServedHoldfast, workdir: string): Promise<Readers> {
  const all = await startSessions(holdfast, workdir)
  const followed = all.map((session) => ({ session, frames: session.subscribe()[Symbol.asyncIterator]() }))
  for (const { frames } of followed) await frames.next() // the snapshot; every later frame is received
  return {
    turns: followed.map(({ session, frames }) => async () => {
      const late: number[] = []
      const sent = session.sendPrompt(prompt)
      for (;;) {
        const { value: frame, done } = await frames.next()
        if (done) throw new Error('the stream ended before the turn')
        if (frame.type === 'delta') late.push(...latenessOf(frame.text, late.length))
        if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
      }
      await sent
      return checkWords(late)
    }),
    async leave() {
      for (const { frames } of followed) await frames.return?.()
      await stopAll(holdfast, all)
    },
  }
}

function readBare({ model, lastOptions }: RememberedModel): Readers {
  const turn = async () => {
    const late: number[] = []
    const { stream } = await model.doStream(lastOptions())
    for await (const part of stream) if (part.type === 'text-delta') late.push(...latenessOf(part.delta, late.length))
    return checkWords(late)
  }
  return { turns: Array.from({ length: sessions }, () => turn), leave: async () => undefined }
}

/** Serves the sessions to another process, which follows them. */
async function startServer(holdfast: ServedHoldfast) {
  const server = orThrow(
    await openServer({
      host: '127.0.0.1',
      port: 0,
      version: 'bench',
      now: Date.now,
      pageDir: null,
      sessions: holdfast.handles,
      tokens: [{ hash: hashToken(token), role: 'admin' }],
      onProblem: ({ where, cause }) => process.stderr.write(`${where}: ${cause}\n`),
    }),
  )
  const child = fork(join(import.meta.dirname, '../fixtures/frame-reader.ts'))
  const waiting = new Map<string, PromiseWithResolvers<readonly number[]>>()
  child.on('message', (message: FromReader) => {
    const { resolve, reject } = waiting.get(message.session) ?? {}
    if (message.type === 'failed') reject?.(new Error(message.why))
    else resolve?.(message.type === 'turn' ? message.late : [])
  })
  /** Resolves with what the reader tells next of this session. */
  const next = (session: string): Promise<readonly number[]> => {
    const told = Promise.withResolvers<readonly number[]>()
    waiting.set(session, told)
    return told.promise
  }
  return {
    async follow(workdir: string): Promise<Readers> {
      const all = await startSessions(holdfast, workdir)
      for (const { id: session } of all) {
        const ready = next(session)
        child.send({ session, url: `${server.url}/v1/sessions/${session}/events`, token } satisfies ToReader)
        await ready
      }
      return {
        turns: all.map((session) => async () => {
          const late = next(session.id)
          await session.sendPrompt(prompt)
          return checkWords(await late)
        }),
        leave: () => stopAll(holdfast, all), // which ends their streams
      }
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
      await server.close()
    },
  }
}

async function stopAll(holdfast: ServedHoldfast, all: readonly Session[]): Promise<void> {
  for (const { id } of all) await holdfast.stopSession(id)
}

function checkWords(late: readonly number[]): readonly number[] {
  if (late.length !== beats) throw new Error(`${late.length} of ${beats} words received`)
  return late
}

function figuresOf(late: readonly number[]): FirstDeltaFigures[Side] {
  const sorted = late.toSorted((left, right) => left - right)
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
  return { p50Ms: at(0.5), p99Ms: at(0.99), turns: sorted.length }
}

/** Returns a row for each kind of subscriber, beside its goal. */
export const measureFirstDelta: Measurement = async ({ dir, rounds }) => {
  const figures = await benchFirstDelta({ dir, rounds })
  return { figures, rows: rowsOf(figures) }
}

const goalMs = 1

function rowsOf({ bare, library, server }: FirstDeltaFigures): readonly Row[] {
  const show = ({ p50Ms, p99Ms }: FirstDeltaFigures[Side]) => `${number(p50Ms, 2)} and ${number(p99Ms, 2)} ms`
  const above = library.p99Ms - bare.p99Ms
  return [
    {
      what: 'first byte to first delta, 50 sessions streaming, p99 above the bare model library',
      figure: `${number(above, 2)} ms (p50 and p99: ${show(library)} ; bare ${show(bare)} ; ${number(bare.turns)} turns each)`,
      goal: `≤ ${goalMs} ms`,
      holds: above <= goalMs,
    },
    {
      what: 'the same, to a client of the server in another process',
      figure: `${number(server.p99Ms - bare.p99Ms, 2)} ms (${show(server)})`,
      goal: '',
      holds: null,
    },
  ]
}
