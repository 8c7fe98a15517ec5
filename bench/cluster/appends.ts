import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { orThrow } from '@holdfast/protocol'
import { appendTo, newSession, textsAfter } from '@holdfast/testkit/contracts'
import type { PostgresServer } from '@holdfast/testkit/postgres'
import { connect } from '../../packages/holdfast/src/store/postgres/connect/connect.ts'
import { parsePostgresUrl } from '../../packages/holdfast/src/store/postgres/connect/postgres-url.ts'
import { openPostgresStore } from '../../packages/holdfast/src/store/postgres/postgres-store.ts'
import { number, type Row } from '../table.ts'

const worker = fileURLToPath(new URL('./append-worker.ts', import.meta.url))
const body = 'x'.repeat(1024)

export const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length * part)] ?? Number.NaN

/** One session, in turn with bare inserts on one connection: both wait for the same disk. */
export async function benchOneSession(server: PostgresServer, rounds: number): Promise<readonly Row[]> {
  const location = orThrow(parsePostgresUrl(server.url('one')))
  const { store } = orThrow(await openPostgresStore(location))
  orThrow(await store.create(newSession(1)))
  const bare = await connect(location, { max: 1 })
  await bare.write('create table @bare (id bigint generated always as identity primary key, body text not null)')
  const [inserts, appends]: [number[], number[]] = [[], []]
  let head = 1
  for (let round = 0; round < rounds; round++) {
    const each = 50
    const batches = Array.from({ length: each }, (_, index) =>
      appendTo(1, head + index, { records: textsAfter(head + index, body) }),
    )
    const startMs = performance.now()
    for (let count = 0; count < each; count++) await bare.write('insert into @bare (body) values ($1)', [body])
    const betweenMs = performance.now()
    for (const batch of batches) orThrow(await store.append(batch))
    head += each
    inserts.push(each / ((betweenMs - startMs) / 1000))
    appends.push(each / ((performance.now() - betweenMs) / 1000))
  }
  await bare.close()
  await store.close()
  const [insertRate, appendRate] = [percentile(inserts, 0.5), percentile(appends, 0.5)]
  const share = appendRate / insertRate
  return [
    {
      what: 'one session, 1 KB records, against bare inserts on one connection',
      figure: `${number(appendRate)} /s, ${number(share, 2)} of ${number(insertRate)} /s`,
      goal: '≥ 0.6',
      holds: share >= 0.6,
    },
  ]
}

type ManySessions = {
  readonly sessions: number
  readonly seconds: number
  readonly pauseMs: number
  readonly p99Max: number
}

/** Sessions of three processes, each with its own store as a node has it: the append alone. */
export async function benchManySessions(
  server: PostgresServer,
  { sessions, seconds, pauseMs, p99Max }: ManySessions,
): Promise<readonly Row[]> {
  const nodes = 3
  const url = server.url(`many_${sessions}`)
  await orThrow(await openPostgresStore(orThrow(parsePostgresUrl(url)))).store.close() // creates the tables
  const each = Math.ceil(sessions / nodes)
  const workers: ChildProcess[] = Array.from({ length: nodes }, (_, node) =>
    fork(worker, [url, ...[node * each + 1, each, seconds, pauseMs].map(String)]),
  )
  await Promise.all(workers.map((one) => once(one, 'message')))
  const answers = workers.map((one) => once(one, 'message'))
  for (const one of workers) one.send('go')
  const times = (await Promise.all(answers)).flatMap(([answer]: { times: number[] }[]) => answer?.times ?? [])
  const p99 = percentile(times, 0.99)
  return [
    {
      what: `${sessions} sessions on three stores, append${pauseMs === 0 ? '' : ` every ${pauseMs / 1000} s`}`,
      figure: `${number(times.length / seconds)} /s, p50 ${number(percentile(times, 0.5), 1)} ms, p99 ${number(p99, 1)} ms`,
      goal: `p99 ≤ ${p99Max} ms`,
      holds: p99 <= p99Max,
    },
  ]
}
