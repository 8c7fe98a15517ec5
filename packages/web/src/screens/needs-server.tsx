import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useIsLost } from './use-screens.ts'

const lostText = 'The connection is lost. This works again when it is back.'

/** Disables the fields and buttons in it while the connection is lost, and says why. */
export function NeedsServer({ children }: { readonly children: ReactNode }) {
  const isLost = useIsLost()
  return (
    <fieldset className="needs-server" disabled={isLost} title={isLost ? lostText : undefined}>
      {children}
    </fieldset>
  )
}

/** Returns how often the connection came back. What was loaded before may be old then, or missing. */
export function useComebacks(): number {
  const isLost = useIsLost()
  const wasLost = useRef(isLost)
  const [count, setCount] = useState(0)
  useEffect(() => {
    if (wasLost.current && !isLost) setCount((before) => before + 1)
    wasLost.current = isLost
  }, [isLost])
  return count
}
