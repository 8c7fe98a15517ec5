import { errorMessage, type JudgedOffer, type Meta, noWorkdir, type SessionView } from '@holdfast/protocol'
import { createContext, useEffect, useState } from 'react'
import { useHoldfast } from '../../actions/holdfast-context.ts'
import { useOwnsServer } from '../../models/server-context.ts'

/** What the folder of the session offers and no person trusts yet. */
export type Untrusted = {
  readonly offers: readonly JudgedOffer[]
  /** Why the last trust was refused. */
  readonly problem: string | null
  readonly trust: (meant: readonly JudgedOffer[]) => Promise<void>
}

export const UntrustedContext = createContext<Untrusted>({ offers: [], problem: null, trust: async () => undefined })

/**
 * Loads the offers without trust, again after each turn: a call may have changed their files. Turns count too, because a
 * short one may begin and end between two draws, and then the status looks the same.
 */
export function useUntrusted(meta: Meta | null, status: SessionView['status'] | undefined): Untrusted {
  const workspace = meta?.workspace ?? noWorkdir
  const { workspaceOffers, trustOffers } = useHoldfast()
  const mayTrust = useOwnsServer()
  const [found, setFound] = useState<Pick<Untrusted, 'offers' | 'problem'>>({ offers: [], problem: null })
  const load = async (isLeft = () => false) => {
    if (workspace === noWorkdir || mayTrust !== true) return
    // Without a folder there is nothing to trust here.
    const answer = await workspaceOffers(workspace).catch(() => null)
    if (!isLeft())
      setFound({ offers: answer?.offers.filter(({ verdict }) => verdict !== 'trusted') ?? [], problem: null })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the folder and what turns do change the answer
  useEffect(() => {
    let hasLeft = false
    load(() => hasLeft)
    return () => {
      hasLeft = true
    }
  }, [workspace, status, meta?.turnCount, mayTrust])
  const trust = async (meant: readonly JudgedOffer[]) => {
    try {
      await trustOffers({ workdir: workspace, offers: meant.map(({ kind, name, hash }) => ({ kind, name, hash })) })
      await load()
    } catch (error) {
      await load() // a file changed since it was shown: shows it as it is now
      setFound((now) => ({ ...now, problem: errorMessage(error) }))
    }
  }
  return { ...found, trust }
}
