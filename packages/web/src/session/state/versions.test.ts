import { BranchName, type Message, MessageId } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { placeAmong, versionsOf } from './versions.ts'

const id = (number: number) => MessageId.parse(number)
// Only the fields that are read.
const prompt = (number: number, parent: number | null) =>
  ({ id: id(number), parent: parent === null ? null : id(parent), kind: 'user' }) as Message
const branch = (name: string, minute: number, first: Message | null) => ({
  name: BranchName.parse(name),
  at: `2026-01-01T00:0${minute}:00.000Z`,
  first,
})

describe('the versions of a prompt', () => {
  it('are the prompts that branches have in its place, oldest first', () => {
    const versions = versionsOf([
      branch('b', 2, prompt(20, 5)),
      branch('a', 1, prompt(10, 5)),
      branch('c', 3, prompt(30, 12)),
      branch('d', 4, null),
    ])
    expect(placeAmong(versions, prompt(25, 5))).toEqual({
      number: 3,
      count: 3,
      before: { prompt: 20, branch: 'b' },
      after: null,
    })
    expect(placeAmong(versions, prompt(15, 5))).toMatchObject({ number: 2, count: 3, after: { branch: 'b' } })
    expect(placeAmong(versions, prompt(40, 39))).toBe(null)
  })

  it('are of the first prompt too, and of branches with the same prompt the latest counts', () => {
    const versions = versionsOf([branch('old', 1, prompt(1, null)), branch('new', 2, prompt(1, null))])
    expect(placeAmong(versions, prompt(7, null))).toMatchObject({ number: 2, count: 2, before: { branch: 'new' } })
  })
})
