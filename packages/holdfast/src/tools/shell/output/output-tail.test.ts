import { expect, it } from 'vitest'
import { keyMark, registerKey } from '../../../system/secrets/known-keys.ts'
import { readTail } from './output-tail.ts'

const key = `sk-tail-${'X0'.repeat(12)}`
registerKey(key)

const tailOf = async (text: string) => {
  const bytes = Buffer.from(text)
  const read = async function* (start: number, end?: number) {
    yield bytes.subarray(start, end)
  }
  return (await readTail({ read }, bytes.length)).text
}

it.each(['all tests\n', 'all tests'])('shows the end of an output, also if a key begins with it: %j', async (text) => {
  expect(await tailOf(text)).toBe(text)
})

it('shows no key, and no long start of one', async () => {
  expect(await tailOf(`one ${key} two`)).toBe(`one ${keyMark} two`)
  expect(await tailOf(`one ${key.slice(0, 12)}`)).toBe('one ')
})
