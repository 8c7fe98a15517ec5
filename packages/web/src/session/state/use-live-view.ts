import { createLiveView, type LiveView } from '@holdfast/client'
import type { Fault, SessionHandle, Sessions } from '@holdfast/protocol'
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import { tabClient } from '../../screens/client-name.ts'

type OpenSession =
  | { readonly phase: 'opening' }
  | { readonly phase: 'refused'; readonly fault: Fault }
  | { readonly phase: 'open'; readonly handle: SessionHandle; readonly live: LiveView }

const awayMs = 2000

/** Opens a session while it is on screen; also if the server is away at first. */
export function useOpenSession(sessions: Sessions, name: string) {
  const [state, setState] = useState<OpenSession>({ phase: 'opening' })
  const [tries, setTries] = useState(0)
  const retry = useCallback(() => setTries((tries) => tries + 1), [])
  // A session that was asked for while the server is away opens when it is back.
  useEffect(() => {
    if (state.phase !== 'refused' || state.fault.code !== 'unreachable') return
    const timer = setTimeout(retry, awayMs)
    return () => clearTimeout(timer)
  }, [state, retry])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a retry repeats the same request
  useEffect(() => {
    let isLeft = false
    let live: LiveView | null = null
    sessions.open(name).then((opened) => {
      if (isLeft) return
      if (!opened.ok) return setState({ phase: 'refused', fault: opened.fault })
      live = createLiveView(opened.value, { client: tabClient() })
      setState({ phase: 'open', handle: opened.value, live })
    })
    return () => {
      isLeft = true
      live?.close()
    }
  }, [sessions, name, tries])
  return { state, retry }
}

const unseenMs = 250

/** Redraws at most once per frame; a few times a second while the page is hidden. */
export function useVersion(live: LiveView): number {
  const subscribe = useCallback(
    (notify: () => void) => {
      let frame = 0
      let timer: ReturnType<typeof setTimeout> | undefined
      const cancel = () => {
        cancelAnimationFrame(frame)
        clearTimeout(timer)
        frame = 0
      }
      const draw = () => {
        cancel()
        notify()
      }
      const stop = live.subscribe(() => {
        if (frame !== 0) return
        frame = requestAnimationFrame(draw)
        timer = setTimeout(draw, unseenMs)
      })
      return () => {
        stop()
        cancel()
      }
    },
    [live],
  )
  return useSyncExternalStore(subscribe, () => live.version)
}
