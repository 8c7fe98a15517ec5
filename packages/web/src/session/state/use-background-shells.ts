import type { BackgroundShell, SessionHandle, SessionView } from '@holdfast/protocol'
import { useEffect, useState } from 'react'

/** The commands in the background, as they were at a moment. */
export type BackgroundShells = {
  readonly running: readonly BackgroundShell[]
  /** Those that have ended, the newest first. */
  readonly ended: readonly BackgroundShell[]
  readonly atMs: number
}

const lookMs = 1000
const none: BackgroundShells = { running: [], ended: [], atMs: 0 }

/**
 * Follows the commands that run in the background. They are no part of the stream: the list is loaded when a call begins or
 * ends, and once a second while one runs and the page is visible.
 */
export function useBackgroundShells(handle: SessionHandle, view: SessionView | null): BackgroundShells {
  const [shells, setShells] = useState(none)
  const calls = view?.activeToolCalls
  const isAny = shells.running.length > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: a call that begins or ends may start or end a command
  useEffect(() => {
    let isLeft = false
    const load = async () => {
      const found = await handle.backgroundShells()
      // While the server does not answer, the last list stays.
      if (!isLeft && found.ok) setShells({ ...sortShells(found.value), atMs: Date.now() })
    }
    const loadIfVisible = () => void (document.visibilityState === 'visible' && load())
    load()
    const timer = isAny ? setInterval(loadIfVisible, lookMs) : undefined
    document.addEventListener('visibilitychange', loadIfVisible)
    return () => {
      isLeft = true
      clearInterval(timer)
      document.removeEventListener('visibilitychange', loadIfVisible)
    }
  }, [handle, calls, isAny])
  return shells
}

const sortShells = (shells: readonly BackgroundShell[]): Pick<BackgroundShells, 'running' | 'ended'> => ({
  running: shells.filter(({ ended }) => ended === undefined),
  ended: shells.filter(({ ended }) => ended !== undefined).toReversed(),
})
