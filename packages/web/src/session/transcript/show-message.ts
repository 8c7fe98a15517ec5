import type { LiveView } from '@holdfast/client'

/** Returns the element id of a message. A session and its subagent may be on screen together. */
export const messageElementId = (session: string, message: number): string => `message-${session}-${message}`

const drawnMs = 40
/** Tries to find a loaded message; some have no element of their own. */
const looksMax = 25

/** Scrolls to a message, loading older pages if needed, highlights it and gives it the focus. */
export async function showMessage(live: LiveView, message: number): Promise<void> {
  const found = await drawn(live, message)
  if (!found) return
  found.scrollIntoView({ block: 'center' })
  await wait(drawnMs) // off-screen content gets its real height only now
  found.scrollIntoView({ block: 'center' })
  found.focus({ preventScroll: true })
  const colour = getComputedStyle(document.documentElement).getPropertyValue('--accent')
  found.animate([{ boxShadow: `0 0 0 3px ${colour}` }, { boxShadow: '0 0 0 3px transparent' }], 1400)
}

async function drawn(live: LiveView, message: number): Promise<HTMLElement | null> {
  for (let looks = 0; looks < looksMax; ) {
    const found = document.getElementById(messageElementId(live.meta?.id ?? '', message))
    if (found) return found
    const oldest = live.messages[0]?.id ?? 0
    if (message < oldest) {
      if (!live.hasOlder || !(await live.loadOlder()).ok) return null
    } else if (!live.messages.some(({ id }) => id === message)) return null
    else looks++
    await wait(drawnMs)
  }
  return null
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
