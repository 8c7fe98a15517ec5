import { createGate } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { codeOf, openTestServer } from '../../testing/test-server.ts'

it('bounds the bytes of uploads at once, and takes more when they are stored', async () => {
  await using test = await openTestServer({ uploadsBytesMax: 1_000_000 })
  const stored = createGate()
  const { storeFile } = test.fake.sessions
  test.fake.sessions.storeFile = async (...given) => {
    await stored.pass()
    return storeFile(...given)
  }
  const upload = (size: number) =>
    test.call('/v1/blobs', { method: 'POST', headers: bearer, body: new Uint8Array(size) })
  const bearer = { authorization: `Bearer ${test.tokens.driver}` }

  const first = upload(600_000)
  await stored.reached
  const second = await upload(600_000)
  expect([second.status, second.headers.get('retry-after'), await codeOf(second)]).toEqual([503, '5', 'server_busy'])
  stored.open()
  expect((await first).status).toBe(201)
  for (let each = 0; each < 3; each++) expect((await upload(900_000)).status).toBe(201)
})
