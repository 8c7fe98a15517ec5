import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { limits, ok } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { absentParts } from '../define/server-parts.ts'
import { openTestServer } from '../testing/test-server.ts'
import { readPaced } from './paced-body.ts'

/** Reads a body that sends so many bytes in each of the seconds given, by a clock of the test. Returns bytes and fault. */
async function read(seconds: readonly number[]) {
  let [nowMs, at] = [0, 0]
  const timers = new Set<{ readonly dueMs: number; readonly call: () => void }>()
  const pace = {
    stallMs: 10_000,
    now: () => nowMs,
    after(delayMs: number, call: () => void) {
      const timer = { dueMs: nowMs + delayMs, call }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await setImmediate() // the reader waits by now
        nowMs += 1000
        for (const timer of [...timers].filter(({ dueMs }) => dueMs < nowMs)) timer.call()
        await setImmediate()
        await setImmediate()
        const bytes = seconds[at++]
        if (bytes === undefined) controller.close()
        else controller.enqueue(new Uint8Array(bytes))
      },
    },
    { highWaterMark: 0 },
  )
  const request = new Request('http://localhost/', { method: 'POST', body, duplex: 'half' } as RequestInit) // lib.dom lacks `duplex`
  let [received, code] = [0, '']
  for await (const piece of readPaced(request, pace)) {
    if (piece.ok) received += piece.value.byteLength
    else code = piece.fault.code
  }
  return { received, code }
}

const rate = limits.bodyBytesPerSecondMin

it('a body that keeps the rate is read to its end, also after a pause', async () => {
  expect(await read(Array(60).fill(rate))).toEqual({ received: 60 * rate, code: '' })
  expect(await read([1000 * rate, ...Array(8).fill(1), rate * 5])).toEqual({ received: 1005 * rate + 8, code: '' })
})

it('a body that trickles, and one that stalls after much was sent, are given up', async () => {
  expect(await read(Array(60).fill(1))).toEqual({ received: 10, code: 'too_slow' })
  expect(await read([1000 * rate, ...Array(60).fill(0)])).toMatchObject({ received: 1000 * rate, code: 'too_slow' })
  expect(await read(Array(60).fill(rate / 2))).toMatchObject({ code: 'too_slow' })
})

it('imports that trickle give up their places to others, and say why', async () => {
  const spoolDir = mkdtempSync(join(tmpdir(), 'holdfast-paced-'))
  let places = limits.importsWaitingMax
  const transfer = {
    ...absentParts.transfer,
    admitImport() {
      places--
      return ok({ [Symbol.dispose]: () => void places++ })
    },
    importFile: async () => ok([]),
  }
  await using test = await openTestServer({ transfer, spoolDir, bodyStallMs: 200 })
  const head = `POST /v1/import HTTP/1.1\r\nHost: 127.0.0.1:${test.server.port}\r\nAuthorization: Bearer ${test.tokens.admin}\r\nContent-Length: 9999\r\n\r\n`
  const trickle = async () => {
    const socket = connect(test.server.port, '127.0.0.1', () => socket.write(`${head}x`))
    const [answer] = await once(socket, 'data')
    socket.destroy()
    return String(answer)
  }
  const answers = await Promise.all(Array.from({ length: limits.importsWaitingMax }, trickle))
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 408 [\s\S]*"code":"too_slow"/)
  expect(places).toBe(limits.importsWaitingMax)
  const sent = { method: 'POST', headers: { authorization: `Bearer ${test.tokens.admin}` }, body: 'x' }
  expect((await test.call('/v1/import', sent)).status).toBe(200)
  rmSync(spoolDir, { recursive: true })
})
