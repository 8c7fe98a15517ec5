import type { LiveView } from '@holdfast/client'
import { type BranchName, escapeLine } from '@holdfast/protocol'
import { useEffect, useRef } from 'react'
import { hrefOf, parseRoute } from '../../ui/route.ts'
import { showToast, type ToastWish } from '../../ui/toast.tsx'
import { findBranchOf } from '../state/branches.ts'
import { type SessionOnScreen, whyHistoryLocked } from '../state/session-context.ts'
import { showMessage } from './show-message.ts'

type Jump = Pick<SessionOnScreen, 'handle' | 'live' | 'asks'>

/**
 * Goes to the message that the address names, once it is loaded, and takes it out of the address. If the message is on a
 * branch, it offers to switch.
 */
export function useMessageJump(parts: Jump, message: number | undefined): void {
  const isReady = parts.live.view !== null
  const jumps = useRef(0)
  const closeOffer = useRef<() => void>(() => undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another session drops the offers of this one
  useEffect(
    () => () => {
      jumps.current++
      closeOffer.current()
    },
    [parts],
  )
  useEffect(() => {
    if (message === undefined || !isReady) return
    const jump = ++jumps.current
    closeOffer.current()
    const isLatest = () => jump === jumps.current
    void showMessage(parts.live, message).then(async (isFound) => {
      const route = parseRoute(location.hash)
      if (route.at === 'session' && route.message === message) {
        const { message: _, ...place } = route
        history.replaceState(null, '', hrefOf(place)) // a click on the same result goes there again
      }
      if (isFound || !isLatest()) return
      const offer = await offerOf(parts, message, () => jumps.current++)
      if (isLatest()) closeOffer.current = untilNextGesture(showToast(offer))
    })
  }, [parts, message, isReady])
}

/**
 * Closes an offer when a person does something else: a press outside of it, Enter there, or another place. Returns what closes
 * it earlier.
 */
function untilNextGesture(close: () => void): () => void {
  const end = () => {
    removeEventListener('pointerdown', onGesture, true)
    removeEventListener('keydown', onGesture, true)
    removeEventListener('hashchange', end)
    close()
  }
  const onGesture = (event: Event) => {
    if (event.target instanceof Element && event.target.closest('.toasts')) return
    if (!(event instanceof KeyboardEvent) || event.key === 'Enter') end()
  }
  addEventListener('pointerdown', onGesture, true)
  addEventListener('keydown', onGesture, true)
  addEventListener('hashchange', end)
  return end
}

/**
 * Says on which branch a message is that is not part of this line, and offers to switch to it. `onSwitch` drops the offers
 * that are on their way.
 */
async function offerOf({ handle, live, asks }: Jump, message: number, onSwitch: () => void): Promise<ToastWish> {
  const found = await findBranchOf(handle, message)
  if (!found.ok) return { text: escapeLine(found.fault.message), isBad: true }
  const branch = found.value
  if (branch === null) return { text: 'This message is on no branch of this session.', isBad: true }
  const onChoose = async () => {
    onSwitch()
    const hold = whyHistoryLocked(live)
    if (hold !== null) return void showToast({ text: hold, isBad: true })
    const refused = await asks.switchBranch(branch)
    if (refused) return void showToast({ text: escapeLine(refused.message), isBad: true })
    await waitForBranch(live, branch)
    await showMessage(live, message)
  }
  const text = `This message is on the branch ${escapeLine(branch)}.`
  return { text, action: { name: 'Switch', onChoose }, stays: true }
}

/** Waits until the view shows a branch. The answer to the command may come before its records. */
const waitForBranch = (live: LiveView, branch: BranchName): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (live.view?.branch !== branch) return
      stop()
      resolve()
    }
    const stop = live.subscribe(look)
    look()
  })
