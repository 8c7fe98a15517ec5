import { limits } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { findTooLong } from './use-send.ts'

it('refuses a message that is longer than the server takes, and says what to do', () => {
  expect(findTooLong('x'.repeat(limits.promptBytesMax))).toBeNull()
  expect(findTooLong('é'.repeat(limits.promptBytesMax))?.message).toBe(
    'This message has 2.1 MB. A message has at most 1.0 MB: attach a longer text as a file.',
  )
})
