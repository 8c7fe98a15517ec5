import type { LiveView } from '@holdfast/client'
import { loadTo } from './reading-place.ts'

/** Returns the element id of a message. A session and its subagent may be on screen together. */
export const messageElementId = (session: string, message: number): string => `message-${session}-${message}`

/** Scrolls to the row of a message. The transcripts on screen, by session. */
const scrollers = new Map<string, (message: number) => void>()

/** Lets `showMessage` scroll a transcript, until the returned function is called. */
export function offerScroll(session: string, scrollTo: (message: number) => void): () => void {
  scrollers.set(session, scrollTo)
  return () => {
    if (scrollers.get(session) === scrollTo) scrollers.delete(session)
  }
}

const drawnMs = 40
/** How long a message that was found is marked. */
const shownMs = 3000
/** Tries to find a loaded message; some have no element of their own. */
const looksMax = 25

/**
 * Scrolls to a message, loading older pages if needed, highlights it and gives it the focus. Returns false if it is not part
 * of this line.
 */
export async function showMessage(live: LiveView, message: number): Promise<boolean> {
  const session = live.meta?.id ?? ''
  if (!(await loadTo(live, message))) return false
  await wait(drawnMs) // the loaded rows are drawn
  scrollers.get(session)?.(message)
  const found = await drawn(messageElementId(session, message))
  if (!found) return true
  found.focus({ preventScroll: true })
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return true // its focus shows it
  const colour = getComputedStyle(document.documentElement).getPropertyValue('--accent')
  const ring = { boxShadow: `0 0 0 3px ${colour}` }
  found.animate([ring, { ...ring, offset: 0.6 }, { boxShadow: '0 0 0 3px transparent' }], shownMs)
  return true
}

async function drawn(id: string): Promise<HTMLElement | null> {
  for (let looks = 0; looks < looksMax; looks++) {
    const found = document.getElementById(id)
    if (found) return found
    await wait(drawnMs)
  }
  return null
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
