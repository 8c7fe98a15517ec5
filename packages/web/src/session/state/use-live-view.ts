import { createLiveView, type LiveView } from '@holdfast/client'
import { createCommandId, type Fault, type SessionHandle, type Sessions } from '@holdfast/protocol'
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'

type OpenSession =
  | { readonly phase: 'opening' }
  | { readonly phase: 'refused'; readonly fault: Fault }
  | { readonly phase: 'open'; readonly handle: SessionHandle; readonly live: LiveView }

/** Opens a session while it is on screen. */
export function useOpenSession(sessions: Sessions, name: string) {
  const [state, setState] = useState<OpenSession>({ phase: 'opening' })
  const [tries, setTries] = useState(0)
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
  return { state, retry: () => setTries((tries) => tries + 1) }
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

const key = 'holdfast.client'

/** The client id of this tab. It survives a reload, so that the tab stays the driver. */
function tabClient(): string {
  const known = sessionStorage.getItem(key)
  if (known !== null) return known
  const made = `page-${createCommandId().slice(0, 6)}`
  sessionStorage.setItem(key, made)
  return made
}
