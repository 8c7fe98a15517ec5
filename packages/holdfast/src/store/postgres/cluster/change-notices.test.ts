import { sessionId } from '@holdfast/testkit/contracts'
import { expect, it } from 'vitest'
import { createChangeNotices } from './change-notices.ts'

const ids = (count: number) => Array.from({ length: count }, (_, index) => sessionId(index + 1))

it.each([
  [200, ids(200).join(' ')],
  [201, ''],
])('one notice tells of %i sessions, in less than 8,000 bytes', async (count, expected) => {
  const sent: string[] = []
  const notices = createChangeNotices(async (payload) => void sent.push(payload))
  for (const id of ids(count)) notices.add([id, id])
  await notices.close()
  expect(sent).toEqual([expected])
  expect(Buffer.byteLength(expected)).toBeLessThan(8000)
})
