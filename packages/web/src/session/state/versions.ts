import type { BranchName, Message, MessageId, SessionHandle, SessionView } from '@holdfast/protocol'
import { createContext, useMemo } from 'react'
import { type ReadBranch, useBranches } from './branches.ts'

/** One version of a prompt: the prompt of a branch that was sent in place of another. */
export type Version = { readonly prompt: MessageId; readonly branch: BranchName }

/** The other versions of a prompt, by the message before it; null for the first prompt. Oldest first. */
export type Versions = ReadonlyMap<MessageId | null, readonly Version[]>

export const VersionsContext = createContext<Versions>(new Map())

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
    number: before.length + 1,
    count: others.length + 1,
    before: before.at(-1) ?? null,
    after: others[before.length] ?? null,
  }
}

/** Groups branches by the message before their first own prompt. Of branches with the same prompt the latest is meant. */
export function versionsOf(branches: readonly Pick<ReadBranch, 'name' | 'at' | 'first'>[]): Versions {
  const versions = new Map<MessageId | null, Version[]>()
  for (const { name, first } of [...branches].sort((left, right) => right.at.localeCompare(left.at))) {
    if (first?.kind !== 'user') continue
    const known = versions.get(first.parent) ?? []
    if (known.some(({ prompt }) => prompt === first.id)) continue
    versions.set(
      first.parent,
      [...known, { prompt: first.id, branch: name }].sort((left, right) => left.prompt - right.prompt),
    )
  }
  return versions
}

/** Returns the versions of all prompts, again after each move in the history. */
export function useVersions(handle: SessionHandle, view: SessionView, isOn: boolean): Versions {
  const { branches } = useBranches(handle, view, isOn ? 'beginnings' : null)
  return useMemo(() => versionsOf(branches), [branches])
}
