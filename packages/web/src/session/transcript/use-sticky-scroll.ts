import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'

type StickyScrollOptions = {
  readonly scroller: RefObject<HTMLDivElement | null>
  /** Whether it begins at the end. Else a reading place is restored. */
  readonly isHeldAtFirst: boolean
  readonly onNearTop: () => void
}

const endSlackPx = 48
const nearTopPx = 600
/** Gestures that scroll, and how long their effect may take. */
const gestures = ['wheel', 'touchmove', 'pointerdown', 'keydown', 'focusin'] as const
const gestureMs = 500
const upKeys = ['PageUp', 'ArrowUp', 'Home', ' ']

/** A press on the box itself is on its scrollbar; presses on its content do not scroll. */
function scrollsUp(event: Event, box: HTMLElement): boolean {
  if (event instanceof WheelEvent) return event.deltaY < 0
  if (event instanceof KeyboardEvent) return upKeys.includes(event.key)
  // The Tab key scrolls to what it gives the focus to. A press with the mouse does not.
  if (event.type === 'focusin') return event.target instanceof Element && event.target.matches(':focus-visible')
  return event.type === 'touchmove' || event.target === box
}

/** Whether a menu of the transcript is open. It would move away with its button. */
const hasOpenMenu = (box: HTMLElement): boolean => box.querySelector('[aria-haspopup][aria-expanded="true"]') !== null

const isNearEnd = (box: HTMLElement): boolean => box.scrollHeight - box.scrollTop - box.clientHeight < endSlackPx

export type ScrollPlace = { readonly scrollTop: number; readonly scrollHeight: number; readonly clientHeight: number }

const placeOf = ({ scrollTop, scrollHeight, clientHeight }: HTMLElement): ScrollPlace => ({
  scrollTop,
  scrollHeight,
  clientHeight,
})

/**
 * Returns whether a person scrolled up. A card that closes, or a box that grows, also moves the text. The browser's own search
 * and screen readers scroll without a gesture: then the text moves although nothing has another height.
 */
export function stopsFollowing(before: ScrollPlace, now: ScrollPlace, isByGesture: boolean): boolean {
  if (now.scrollTop >= before.scrollTop) return false
  return isByGesture || (now.scrollHeight === before.scrollHeight && now.clientHeight === before.clientHeight)
}

/** Follows the end while text grows. Only a person who scrolls up, or opens something to read, stops it. */
export function useStickyScroll({ scroller, isHeldAtFirst, onNearTop }: StickyScrollOptions) {
  const content = useRef<HTMLDivElement>(null)
  const isHeld = useRef(isHeldAtFirst)
  const last = useRef<ScrollPlace>({ scrollTop: 0, scrollHeight: 0, clientHeight: 0 })
  const didFit = useRef(true)
  const touchedAt = useRef(Number.NEGATIVE_INFINITY)
  const [isAtEnd, setAtEnd] = useState(isHeldAtFirst)

  const toEnd = () => {
    const box = scroller.current
    isHeld.current = true
    touchedAt.current = Number.NEGATIVE_INFINITY
    setAtEnd(true)
    if (box) box.scrollTop = box.scrollHeight
  }
  /** Stops following. A text that fits has no end to go to. */
  const letGo = () => {
    const box = scroller.current
    isHeld.current = box !== null && box.scrollHeight <= box.clientHeight
    setAtEnd(isHeld.current)
  }

  const isTouched = () => performance.now() - touchedAt.current < gestureMs
  /** Returns whether the end is followed now. Not against a person who has just begun to scroll, or has a menu open. */
  const isFollowing = () =>
    isHeld.current && !isTouched() && scroller.current !== null && !hasOpenMenu(scroller.current)

  const follow = useEffectEvent(() => {
    const box = scroller.current
    if (!box) return
    // A text that has become short, or a window that has become tall, has no other end to go to; nothing scrolls then.
    const doesFit = box.scrollHeight - box.clientHeight < endSlackPx
    if (doesFit && !didFit.current) {
      isHeld.current = true
      setAtEnd(true)
    }
    didFit.current = doesFit
    if (isFollowing()) box.scrollTop = box.scrollHeight
    last.current = placeOf(box)
  })
  // After every drawing, and so in the same frame: what rows measured is drawn before the observer below hears of it.
  useLayoutEffect(() => follow())

  useEffect(() => {
    const box = scroller.current
    const inner = content.current
    if (!box || !inner) return
    // Observed, not derived from renders: toggles and window sizes change the height too.
    const observer = new ResizeObserver(() => follow())
    observer.observe(inner)
    observer.observe(box)
    const touched = (event: Event) => {
      if (scrollsUp(event, box)) touchedAt.current = performance.now()
    }
    /** What a person opens stays where it is, instead of being pushed up by what it shows. */
    const toggled = ({ target }: Event) => {
      const toggle = target instanceof Element ? target.closest('[aria-expanded="false"], summary') : null
      if (!toggle || !isHeld.current) return
      isHeld.current = false
      requestAnimationFrame(() => {
        isHeld.current = isNearEnd(box)
        setAtEnd(isHeld.current)
      })
    }
    for (const gesture of gestures) box.addEventListener(gesture, touched, { passive: true })
    box.addEventListener('click', toggled, true)
    return () => {
      observer.disconnect()
      for (const gesture of gestures) box.removeEventListener(gesture, touched)
      box.removeEventListener('click', toggled, true)
    }
  }, [scroller])

  const onScroll = () => {
    const box = scroller.current
    if (!box) return
    const isEnd = isNearEnd(box)
    const now = placeOf(box)
    const isByGesture = isTouched()
    const isLetGo = stopsFollowing(last.current, now, isByGesture)
    if (isLetGo && isByGesture) touchedAt.current = performance.now() // momentum scrolling continues
    last.current = now
    isHeld.current = isEnd || (isHeld.current && !isLetGo)
    setAtEnd(isHeld.current)
    if (!isEnd && box.scrollTop < nearTopPx) onNearTop()
  }

  return { content, isAtEnd, isHeld, isFollowing, toEnd, letGo, onScroll }
}
