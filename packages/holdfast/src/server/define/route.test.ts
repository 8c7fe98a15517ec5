import { expect, it, vi } from 'vitest'
import { aModelList } from '../testing/fake-sessions.ts'
import { codeOf, openTestServer } from '../testing/test-server.ts'

it('an answer that no string can hold is refused as too large, and the server goes on', async () => {
  await using test = await openTestServer()
  const stringify = JSON.stringify
  const spy = vi.spyOn(JSON, 'stringify').mockImplementation((value, ...rest) => {
    if (typeof value === 'object' && value !== null && 'models' in value) throw new RangeError('Invalid string length')
    return stringify(value, ...rest)
  })
  const refused = await test.call('/v1/models')
  expect([refused.status, await codeOf(refused)]).toEqual([413, 'too_large'])
  spy.mockRestore()
  expect(await (await test.call('/v1/models')).json()).toEqual(aModelList)
})
