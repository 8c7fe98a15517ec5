import type { LiveView } from '@holdfast/client'
import { useEffect } from 'react'
import { hrefOf, parseRoute } from '../../ui/route.ts'
import { showMessage } from './show-message.ts'

/** Goes to the message that the address names, once it is loaded, and takes it out of the address. */
export function useMessageJump(live: LiveView, message: number | undefined): void {
  const isReady = live.view !== null
  useEffect(() => {
    if (message === undefined || !isReady) return
    void showMessage(live, message).then(() => {
      const route = parseRoute(location.hash)
      if (route.at !== 'session' || route.message !== message) return
      const { message: _, ...place } = route
      history.replaceState(null, '', hrefOf(place)) // a click on the same result goes there again
    })
  }, [live, message, isReady])
}
