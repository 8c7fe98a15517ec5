import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { SessionHandle } from '@holdfast/protocol'
import { number } from '../table.ts'
import { type LoadServer, startLoadServer } from './parts/load-server.ts'
import { describe, type Percentiles, percentilesOf } from './parts/percentiles.ts'
import type { Scenario } from './scenario.ts'

type Appended = { readonly ack: Percentiles; readonly perSecond: number; readonly refused: number }

/** Clients send commands over HTTP. Each command records one event, and is acknowledged when the event is on the disk. */
export const appendRecords: Scenario = async ({ dir, isQuick }) => {
  const [sessions, seconds] = isQuick ? [10, 1] : [100, 10]
  await using server = await startLoadServer(dir)
  const handles = await Promise.all(Array.from({ length: sessions }, server.start))
  const one = handles.slice(0, 1)
  await append(server, handles, { perSecond: 400, seconds: 1 }) // warm-up
  const many = await append(server, handles, { perSecond: 1100, seconds })
  const single = await append(server, one, { perSecond: null, seconds })
  const rows = [
    {
      what: `records acknowledged, ${sessions} sessions`,
      figure: `${number(many.perSecond)} /s, ${describe(many.ack)}`,
      goal: '≥ 1,000 /s, p99 ≤ 25 ms',
      holds: many.perSecond >= 1000 && many.ack.p99 <= 25,
    },
    {
      what: 'records acknowledged, one session',
      figure: `${number(single.perSecond)} /s, ${describe(single.ack)}`,
      goal: '≥ 300 /s, p99 ≤ 25 ms',
      holds: single.perSecond >= 300 && single.ack.p99 <= 25,
    },
  ]
  const violations = [many, single].flatMap(({ refused }) => (refused > 0 ? [`${refused} commands were refused`] : []))
  return { figures: { many, single }, rows, violations }
}

/** Each session gets a command as often as is due, or, with null, as soon as the last one was acknowledged. */
async function append(
  server: LoadServer,
  handles: readonly SessionHandle[],
  { perSecond, seconds }: { readonly perSecond: number | null; readonly seconds: number },
): Promise<Appended> {
  const agent = new Agent({ keepAlive: true, maxSockets: handles.length })
  const acks: number[] = []
  let refused = 0
  const start = performance.now()
  const end = start + seconds * 1000
  const everyMs = perSecond === null ? 0 : (1000 * handles.length) / perSecond
  await Promise.all(
    handles.map(async (handle, index) => {
      let due = start + (everyMs * index) / handles.length
      for (let sent = 0; performance.now() < end; sent++, due += everyMs) {
        if (due > performance.now()) await delay(due - performance.now())
        const sentMs = performance.now()
        const status = await post(server, agent, handle, { type: 'rename', title: `title ${sent}` })
        if (status !== 202) refused += 1
        acks.push(performance.now() - sentMs)
      }
    }),
  )
  agent.destroy()
  return { ack: percentilesOf(acks), perSecond: acks.length / ((performance.now() - start) / 1000), refused }
}

function post({ url, token }: LoadServer, agent: Agent, { id }: SessionHandle, body: object): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/sessions/${id}/commands`, { agent, method: 'POST', headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject).end(JSON.stringify(body))
  })
}
