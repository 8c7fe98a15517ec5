import {
  type BranchName,
  type Fault,
  type ListedBranch,
  type Message,
  MessageId,
  ok,
  type Result,
  type SessionHandle,
  type SessionView,
} from '@holdfast/protocol'
import { useLoaded } from '../../ui/use-loaded.ts'

/** A branch, its first message that is not on the current line, and its last prompt; null if there is none, or if unread. */
export type ReadBranch = ListedBranch & { readonly first: Message | null; readonly last: Message | null }

/** What to read: where the newest branches begin, or both ends of all branches. Null reads nothing. */
export type BranchParts = 'beginnings' | 'ends' | null

export type LoadedBranches = {
  /** What was read last. It may be older than the view. */
  readonly branches: readonly ReadBranch[]
  /** Whether it was read after the last move in the history. */
  readonly isCurrent: boolean
  readonly fault: Fault | null
}

/** Reads the branches of a session, again after each move in the history. */
export function useBranches(
  handle: SessionHandle,
  { branches: saved, branch }: Pick<SessionView, 'branches' | 'branch'>,
  parts: BranchParts,
): LoadedBranches {
  const cause = [parts, branch, ...saved.map(({ name, at }) => `${name} ${at}`)].join('\n')
  const { value, fault } = useLoaded(async (): Promise<Result<Read>> => {
    if (parts === null || saved.length === 0) return ok({ cause, branches: [] })
    const listed = await handle.branches()
    if (!listed.ok) return listed
    const wanted = parts === 'ends' ? listed.value : listed.value.filter(hasBeginning).slice(-beginningsMax)
    return ok({ cause, branches: await Promise.all(wanted.map((one) => readBranch(handle, one, parts))) })
  }, [handle, cause])
  return { branches: value?.branches ?? none, isCurrent: value?.cause === cause, fault }
}

/** Returns the newest branch with a message, or null. */
export async function findBranchOf(
  handle: Pick<SessionHandle, 'branches' | 'page'>,
  message: number,
): Promise<Result<BranchName | null>> {
  const listed = await handle.branches()
  if (!listed.ok) return listed
  for (const { name } of listed.value.toReversed()) {
    const page = await handle.page({ branch: name, before: MessageId.parse(message + 1), limit: 1 })
    if (!page.ok) return page
    if (page.value.messages.some(({ id }) => id === message)) return ok(name)
  }
  return ok(null)
}

type Read = { readonly cause: string; readonly branches: readonly ReadBranch[] }

const none: readonly ReadBranch[] = []

/** Beginnings of older branches are read with the ends, when a person asks for all branches. */
const beginningsMax = 50

const hasBeginning = ({ differsAt }: ListedBranch): boolean => differsAt !== null

/** So many messages at the end of a branch usually have its last prompt. */
const endLimit = 20

async function readBranch(handle: SessionHandle, branch: ListedBranch, parts: BranchParts): Promise<ReadBranch> {
  const { name, at, differsAt } = branch
  const readFirst = async () => {
    if (differsAt === null) return null
    const page = await handle.page({ branch: name, before: MessageId.parse(differsAt + 1), limit: 1 })
    return page.ok ? (page.value.messages.find(({ id }) => id === differsAt) ?? null) : undefined
  }
  const readLast = async () => {
    const page = await handle.page({ branch: name, limit: endLimit })
    return page.ok ? (page.value.messages.findLast(({ kind }) => kind === 'user') ?? null) : undefined
  }
  const [first, last] = await Promise.all([
    readOnce(handle, `${name} ${at} ${differsAt}`, readFirst),
    parts === 'ends' ? readOnce(handle, `${name} ${at}`, readLast) : null,
  ])
  return { ...branch, first, last }
}

type KnownMessages = Map<string, Promise<Message | null | undefined>>

/** A saved branch does not change, so its messages are read once while the session is open. */
const knownMessages = new WeakMap<SessionHandle, KnownMessages>()

/** Reads a message once; again if the last answer was `undefined`, because the server refused. */
async function readOnce(handle: SessionHandle, key: string, read: () => Promise<Message | null | undefined>) {
  const known: KnownMessages = knownMessages.get(handle) ?? new Map()
  knownMessages.set(handle, known)
  const answer = known.get(key) ?? read()
  known.set(key, answer)
  const message = await answer
  if (message === undefined) known.delete(key)
  return message ?? null
}
