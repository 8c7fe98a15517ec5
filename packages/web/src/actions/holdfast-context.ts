import type { RemoteHoldfast } from '@holdfast/client'
import { invariant } from '@holdfast/protocol'
import { createContext, useContext } from 'react'

/** The server of this page. */
export const HoldfastContext = createContext<RemoteHoldfast | null>(null)

export function useHoldfast(): RemoteHoldfast {
  const holdfast = useContext(HoldfastContext)
  invariant(holdfast, 'the page is connected to a server')
  return holdfast
}
