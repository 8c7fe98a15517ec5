import { useEffect, useState } from 'react'

const readMs = 350

/**
 * Whether a button that decides something may be pressed: not in the first moments after it appeared for `what`. A double
 * click meant for what stood in its place must not decide unread.
 */
export function useArmed(what: string): boolean {
  const [armedFor, setArmedFor] = useState<string | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => setArmedFor(what), readMs)
    return () => clearTimeout(timer)
  }, [what])
  return armedFor === what
}
