import { type ListedBranch, type Message, MessageId, orThrow, type SessionHandle } from '@holdfast/protocol'

/** A line, read in pages in both directions. */
export type ReadLine = { readonly backwards: readonly Message[]; readonly forwards: readonly Message[] }

/** All lines of a session: the current one and its branches. */
export type ReadLines = {
  readonly present: ReadLine
  readonly branches: readonly ListedBranch[]
  readonly kept: readonly ReadLine[]
}

/** Small, so that a page ends anywhere, such as inside a round or between two spans. */
const pageSizes = { backwards: 7, forwards: 11 }
const pagesMax = 200

export async function readLines(handle: SessionHandle): Promise<ReadLines> {
  const branches = orThrow(await handle.branches())
  const kept = await Promise.all(branches.map(({ name }) => readLine(handle, name)))
  return { present: await readLine(handle, undefined), branches, kept }
}

async function readLine(handle: SessionHandle, branch: string | undefined): Promise<ReadLine> {
  return { backwards: await readBackwards(handle, branch), forwards: await readForwards(handle, branch) }
}

async function readBackwards(handle: SessionHandle, branch: string | undefined): Promise<readonly Message[]> {
  let read: readonly Message[] = []
  let before: MessageId | undefined
  for (let page = 0; page < pagesMax; page++) {
    const got = orThrow(await handle.page({ branch, before, limit: pageSizes.backwards }))
    read = [...got.messages, ...read]
    if (got.before === null) return read
    before = got.before
  }
  throw new Error('there is always one more page before')
}

async function readForwards(handle: SessionHandle, branch: string | undefined): Promise<readonly Message[]> {
  let read: readonly Message[] = []
  let after = MessageId.parse(0)
  for (let page = 0; page < pagesMax; page++) {
    const got = orThrow(await handle.page({ branch, after, limit: pageSizes.forwards }))
    read = [...read, ...got.messages]
    if (got.after === null) return read
    after = got.after
  }
  throw new Error('there is always one more page after')
}
