import { createGate } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { codeOf, openTestServer } from '../testing/test-server.ts'
import { createByteBudget, freeBodyBytes, parseJson } from './request-body.ts'
import { scanSliceBytes } from './scan-json.ts'

it('bounds the bytes of JSON bodies at once; small ones always pass', async () => {
  await using test = await openTestServer({ bodiesBytesMax: 1_000_000 })
  const started = createGate()
  const { start } = test.fake.sessions
  let isFirst = true
  test.fake.sessions.start = async (...given) => {
    if (isFirst) {
      isFirst = false
      await started.pass()
    }
    return start(...given)
  }
  const send = (size: number) =>
    test.post('/v1/sessions', `{"workdir":"/"${' '.repeat(size)}}`, { authorization: `Bearer ${test.tokens.admin}` })

  const first = send(600_000)
  await started.reached
  const second = await send(600_000)
  expect([second.status, second.headers.get('retry-after'), await codeOf(second)]).toEqual([503, '5', 'server_busy'])
  expect((await send(10)).status).toBe(201)
  started.open()
  expect((await first).status).toBe(201)
  for (let each = 0; each < 3; each++) expect((await send(900_000)).status).toBe(201)
})

it('reads what it refuses to the end, so that every client gets its answer', async () => {
  await using test = await openTestServer({ bodiesBytesMax: 1 })
  const body = `{"workdir":"/"${' '.repeat(1_000_000)}}`
  const answers = await Promise.all(Array.from({ length: 10 }, () => test.post('/v1/sessions', body)))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503))
})

it('scans many bodies in slices, one at a time', async () => {
  const body = new TextEncoder().encode(JSON.stringify('x'.repeat(3 * scanSliceBytes)))
  let [slices, isDone] = [0, false]
  const slice = () => {
    slices++
    if (!isDone) setImmediate(slice)
  }
  setImmediate(slice)
  await Promise.all(Array.from({ length: 8 }, () => parseJson(body)))
  isDone = true
  expect(slices).toBeGreaterThanOrEqual(8 * 3)
})

it('counts what a request holds beyond its free bytes, until it is released', () => {
  const budget = createByteBudget(100)
  const [one, two] = [budget.hold(freeBodyBytes), budget.hold(freeBodyBytes)]
  expect([one.take(freeBodyBytes - 10), one.take(50), one.take(50), one.take(20)]).toEqual([true, true, true, false])
  expect([two.take(freeBodyBytes), two.take(20), two.take(10)]).toEqual([true, false, true])
  one.release()
  one.release()
  expect([two.take(90), two.take(1)]).toEqual([true, false])
})
