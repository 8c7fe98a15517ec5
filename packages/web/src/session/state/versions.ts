import {
  type BranchName,
  type ListedBranch,
  type Message,
  MessageId,
  type SessionHandle,
  type SessionView,
} from '@holdfast/protocol'
import { createContext, useEffect, useState } from 'react'

/** One version of a prompt: the prompt of a branch that was sent in place of another. */
export type Version = { readonly prompt: MessageId; readonly branch: BranchName }

/** The other versions of a prompt, by the message before it; null for the first prompt. Oldest first. */
export type Versions = ReadonlyMap<MessageId | null, readonly Version[]>

const noVersions: Versions = new Map()

export const VersionsContext = createContext<Versions>(noVersions)

/** The place of a prompt among its versions, and the branches of its neighbours. */
export type VersionPlace = {
  readonly number: number
  readonly count: number
  readonly before: Version | null
  readonly after: Version | null
}

/** Returns the place of a prompt among its versions; null if it has no other. */
export function placeAmong(versions: Versions, prompt: Pick<Message, 'id' | 'parent'>): VersionPlace | null {
  const others = versions.get(prompt.parent)?.filter(({ prompt: id }) => id !== prompt.id) ?? []
  if (others.length === 0) return null
  const before = others.filter(({ prompt: id }) => id < prompt.id)
  return {
    ...{ number: before.length + 1, count: others.length + 1 },
    ...{ before: before.at(-1) ?? null, after: others[before.length] ?? null },
  }
}

/** A branch with its first message that is not on the current line. */
type Begun = { readonly branch: ListedBranch; readonly first: Message | null }

/** Groups branches by the message before their first own prompt. Of branches with the same prompt the latest is meant. */
export function versionsOf(begun: readonly Begun[]): Versions {
  const versions = new Map<MessageId | null, Version[]>()
  for (const { branch, first } of [...begun].sort((left, right) => right.branch.at.localeCompare(left.branch.at))) {
    if (first?.kind !== 'user') continue
    const known = versions.get(first.parent) ?? []
    if (known.some(({ prompt }) => prompt === first.id)) continue
    versions.set(
      first.parent,
      [...known, { prompt: first.id, branch: branch.name }].sort((left, right) => left.prompt - right.prompt),
    )
  }
  return versions
}

/** Older branches are found in the menu of branches. */
const branchesMax = 50

/** Loads the versions of all prompts, again after each move in the history. */
export function useVersions(handle: SessionHandle, { branches, branch }: SessionView, isOn: boolean): Versions {
  const [versions, setVersions] = useState(noVersions)
  const saved = branches.map(({ name, at }) => `${name} ${at}`).join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: a move is what changes the answer
  useEffect(() => {
    if (!isOn || saved === '') return setVersions(noVersions)
    let isLeft = false
    const load = async () => {
      const listed = await handle.branches()
      if (!listed.ok) return // the menu of branches says why
      const shown = listed.value.filter(({ differsAt }) => differsAt !== null).slice(-branchesMax)
      const begun = await Promise.all(shown.map((one) => withFirst(handle, one)))
      if (!isLeft) setVersions(versionsOf(begun))
    }
    void load()
    return () => {
      isLeft = true
    }
  }, [handle, saved, branch, isOn])
  return versions
}

async function withFirst(handle: SessionHandle, branch: ListedBranch): Promise<Begun> {
  const { name, differsAt } = branch
  if (differsAt === null) return { branch, first: null }
  const page = await handle.page({ branch: name, before: MessageId.parse(differsAt + 1), limit: 1 })
  return { branch, first: (page.ok && page.value.messages.find(({ id }) => id === differsAt)) || null }
}
