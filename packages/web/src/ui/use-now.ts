import { useEffect, useState } from 'react'

const tickMs = 20_000

/** Returns the time, updated as often as relative times need. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), tickMs)
    return () => clearInterval(timer)
  }, [])
  return nowMs
}
