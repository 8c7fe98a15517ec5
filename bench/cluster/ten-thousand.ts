import { orThrow } from '@holdfast/protocol'
import { appendTo, newSession, sessionId, textsAfter } from '@holdfast/testkit/contracts'
import type { PostgresServer } from '@holdfast/testkit/postgres'
import { parsePostgresUrl } from '../../packages/holdfast/src/store/postgres/connect/postgres-url.ts'
import { openPostgresStore } from '../../packages/holdfast/src/store/postgres/postgres-store.ts'
import { number, type Row } from '../table.ts'
import { percentile } from './appends.ts'

const together = 64

/** Ten thousand sessions in one store: lists, appends and looking for the owner stay fast. */
export async function benchTenThousand(server: PostgresServer, sessions: number): Promise<readonly Row[]> {
  const { store, cluster } = orThrow(await openPostgresStore(orThrow(parsePostgresUrl(server.url('all')))))
  for (let first = 1; first <= sessions; first += together)
    await Promise.all(
      Array.from({ length: Math.min(together, sessions - first + 1) }, (_, index) =>
        store.create(newSession(first + index)).then(orThrow),
      ),
    )
  const time = async (work: (round: number) => Promise<unknown>) => {
    const times: number[] = []
    for (let round = 0; round < 200; round++) {
      const startMs = performance.now()
      await work(round)
      times.push(performance.now() - startMs)
    }
    return percentile(times, 0.5)
  }
  const list = await time(() => store.list({ limit: 50 }))
  const place = await time((round) => cluster.place(sessionId(round + 1), 'node-x'))
  const append = await time((round) => store.append(appendTo(round + 1, 1, { records: textsAfter(1, 'more') })))
  await store.close()
  return [
    {
      what: `${number(sessions)} sessions: a page of the list, the owner of a session, an append`,
      figure: `p50 ${number(list, 1)}, ${number(place, 1)} and ${number(append, 1)} ms`,
      goal: '',
      holds: null,
    },
  ]
}
