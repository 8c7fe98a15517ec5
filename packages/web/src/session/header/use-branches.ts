import { type Fault, type ListedBranch, MessageId, type SessionHandle, type SessionView } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import type { ShownBranch } from './branch-tree.ts'

export type ShownBranches = { readonly branches: readonly ShownBranch[] | null; readonly fault: Fault | null }

const nothing: ShownBranches = { branches: null, fault: null }

/** Loads the branches while the menu is open, again after each move. */
export function useBranches(
  handle: SessionHandle,
  { branches: kept, branch }: Pick<SessionView, 'branches' | 'branch'>,
  isOn: boolean,
): ShownBranches {
  const [shown, setShown] = useState(nothing)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a move is what changes the answer
  useEffect(() => {
    if (!isOn) return
    let isLeft = false
    const load = async () => {
      const listed = await handle.branches()
      if (isLeft) return
      if (!listed.ok) return setShown((before) => ({ ...before, fault: listed.fault }))
      const branches = await Promise.all(listed.value.map((one) => withFirst(handle, one)))
      if (!isLeft) setShown({ branches, fault: null })
    }
    load()
    return () => {
      isLeft = true
    }
  }, [handle, kept, branch, isOn])
  return shown
}

async function withFirst(handle: SessionHandle, branch: ListedBranch): Promise<ShownBranch> {
  const { name, differsAt } = branch
  if (differsAt === null) return { ...branch, first: null }
  const page = await handle.page({ branch: name, before: MessageId.parse(differsAt + 1), limit: 1 })
  return { ...branch, first: (page.ok && page.value.messages.find(({ id }) => id === differsAt)) || null }
}
