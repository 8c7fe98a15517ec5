import { setTimeout as wait } from 'node:timers/promises'
import { orThrow } from '@holdfast/protocol'
import { appendTo, newSession, textsAfter } from '@holdfast/testkit/contracts'
import { parsePostgresUrl } from '../../packages/holdfast/src/store/postgres/connect/postgres-url.ts'
import { openPostgresStore } from '../../packages/holdfast/src/store/postgres/postgres-store.ts'

// A node as far as its store goes: appends to its sessions, each after the other, for some seconds, with a pause after each. Sends its times.
const [url = '', first = '0', count = '0', seconds = '0', pauseMs = '0'] = process.argv.slice(2)
const { store } = orThrow(await openPostgresStore(orThrow(parsePostgresUrl(url))))
const numbers = Array.from({ length: Number(count) }, (_, index) => Number(first) + index)
for (const number of numbers) orThrow(await store.create(newSession(number)))
process.send?.('ready')
await new Promise((resolve) => process.once('message', resolve))

const pause = (ms: number): Promise<unknown> => (ms === 0 ? Promise.resolve() : wait(ms))
const body = 'x'.repeat(1024)
const times: number[] = []
const untilMs = performance.now() + Number(seconds) * 1000
await Promise.all(
  numbers.map(async (number, index) => {
    await pause((Number(pauseMs) * index) / numbers.length) // they do not all begin at once
    for (let head = 1; performance.now() < untilMs; head++) {
      const sentMs = performance.now()
      orThrow(await store.append(appendTo(number, head, { records: textsAfter(head, body) })))
      times.push(performance.now() - sentMs)
      await pause(Number(pauseMs))
    }
  }),
)
await store.close()
process.send?.({ times }, () => process.disconnect())
