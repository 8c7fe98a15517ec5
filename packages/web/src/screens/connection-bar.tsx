import { useEffect, useState } from 'react'
import { useIsLost, useScreens, useShared } from './use-screens.ts'

/** Says that the connection is lost, when the next try begins, and offers to try now. Nothing while it is there. */
export function ConnectionBar() {
  const isLost = useIsLost()
  const screens = useScreens()
  const retryAtMs = useShared(({ retryAtMs }) => retryAtMs)
  if (!isLost) return null
  return (
    <div className="connection-bar" role="alert">
      <p>
        <strong>Connection lost.</strong> What you see may be old, and nothing can be sent.{' '}
        <span aria-hidden="true">{retryAtMs === null ? '' : <TryingAgain atMs={retryAtMs} />}</span>
      </p>
      <button type="button" onClick={screens.retry}>
        Try now
      </button>
    </div>
  )
}

/** Counts down to the next try. */
function TryingAgain({ atMs }: { readonly atMs: number }) {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.ceil((atMs - nowMs) / 1000)
  return seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again…'
}
