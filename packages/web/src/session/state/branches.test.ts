import { BranchName, fault, MessageId, ok, type PageRequest, refuse, type SessionHandle } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { findBranchOf } from './branches.ts'

/** A session with these branches, each a list of messages; pages are as those of the server. */
function session(branches: { readonly [name: string]: readonly number[] }) {
  const asked: string[] = []
  const handle = {
    branches: async () => ok(Object.keys(branches).map((name) => ({ name: BranchName.parse(name) }))),
    page: async ({ branch = '', before = MessageId.parse(1), limit = 1 }: PageRequest) => {
      asked.push(branch)
      const messages = (branches[branch] ?? []).filter((id) => id < before).slice(-limit)
      return ok({ messages: messages.map((id) => ({ id: MessageId.parse(id) })) })
    },
  }
  // Only the fields that are read.
  return { handle: handle as unknown as SessionHandle, asked }
}

it('finds the newest branch that has a message', async () => {
  const { handle, asked } = session({ a: [1, 5, 9], b: [1, 5, 7], c: [1, 3] })
  expect(await findBranchOf(handle, 5)).toEqual(ok('b'))
  expect(asked).toEqual(['c', 'b'])
  expect(await findBranchOf(handle, 9)).toEqual(ok('a'))
})

it('says that no branch has a message, and why branches cannot be read', async () => {
  const { handle } = session({ a: [1, 5] })
  expect(await findBranchOf(handle, 4)).toEqual(ok(null))
  const refused = refuse(fault('unreachable', 'The server does not respond.'))
  expect(await findBranchOf({ ...handle, branches: async () => refused }, 5)).toEqual(refused)
})
