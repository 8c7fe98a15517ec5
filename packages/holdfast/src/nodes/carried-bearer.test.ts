import { expect, it } from 'vitest'
import { carriedBearer, keepBearer, withBearer } from './carried-bearer.ts'

it('a stream keeps the bearer of its request, and other work has none', async () => {
  async function* stream() {
    yield carriedBearer()
    await Promise.resolve()
    yield carriedBearer()
  }
  const kept = withBearer('Bearer anna', () => keepBearer(stream()))
  const seen: unknown[] = []
  for await (const one of kept) seen.push(one)
  expect(seen).toEqual(['Bearer anna', 'Bearer anna'])
  expect(carriedBearer()).toBeNull()
})
