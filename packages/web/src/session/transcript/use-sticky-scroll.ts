import { useEffect, useLayoutEffect, useRef, useState } from 'react'

type StickyScrollOptions = {
  /** Changes when an older page was added. */
  readonly firstId: number | undefined
  readonly onNearTop: () => void
}

const endSlackPx = 48
const nearTopPx = 600
/** Gestures that scroll, and how long their effect may take. */
const gestures = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const
const gestureMs = 500
const upKeys = ['PageUp', 'ArrowUp', 'Home', ' ']

/** A press on the box itself is on its scrollbar; presses on its content do not scroll. */
function scrollsUp(event: Event, box: HTMLElement): boolean {
  if (event instanceof WheelEvent) return event.deltaY < 0
  if (event instanceof KeyboardEvent) return upKeys.includes(event.key)
  return event.type === 'touchmove' || event.target === box
}

/** Follows the end while text grows, and keeps the reading position when older text is added. */
export function useStickyScroll({ firstId, onNearTop }: StickyScrollOptions) {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isHeld = useRef(true)
  const lastTop = useRef(0)
  const touchedAt = useRef(Number.NEGATIVE_INFINITY)
  const anchor = useRef<{ readonly element: Element; readonly top: number } | null>(null)
  const [isAtEnd, setAtEnd] = useState(true)

  const toEnd = () => {
    const box = scroller.current
    if (box) box.scrollTop = box.scrollHeight
  }

  useEffect(() => {
    const box = scroller.current
    const inner = content.current
    if (!box || !inner) return
    // Observed, not derived from renders: toggles and window sizes change the height too.
    const observer = new ResizeObserver(() => {
      if (isHeld.current) box.scrollTop = box.scrollHeight
      lastTop.current = box.scrollTop
    })
    observer.observe(inner)
    observer.observe(box)
    const touched = (event: Event) => {
      if (scrollsUp(event, box)) touchedAt.current = performance.now()
    }
    for (const gesture of gestures) box.addEventListener(gesture, touched, { passive: true })
    return () => {
      observer.disconnect()
      for (const gesture of gestures) box.removeEventListener(gesture, touched)
    }
  }, [])

  /** Saves the reading position before an older page is loaded. */
  const keepPlace = () => {
    const element = content.current?.querySelector('.turn')
    if (element) anchor.current = { element, top: element.getBoundingClientRect().top }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new first message moves the reading position
  useLayoutEffect(() => {
    const kept = anchor.current
    const box = scroller.current
    anchor.current = null
    // The browser may have corrected it already; measure, so that it is not corrected twice.
    if (kept?.element.isConnected && box) box.scrollTop += kept.element.getBoundingClientRect().top - kept.top
  }, [firstId])

  const onScroll = () => {
    const box = scroller.current
    if (!box) return
    const isEnd = box.scrollHeight - box.scrollTop - box.clientHeight < endSlackPx
    // Only a person who scrolls up stops following; a card that closes also moves the text.
    const isUp = box.scrollTop < lastTop.current
    const isLetGo = isUp && performance.now() - touchedAt.current < gestureMs
    if (isLetGo) touchedAt.current = performance.now() // momentum scrolling continues
    lastTop.current = box.scrollTop
    isHeld.current = isEnd || (isHeld.current && !isLetGo)
    setAtEnd(isHeld.current)
    if (!isEnd && box.scrollTop < nearTopPx) onNearTop()
  }

  return { scroller, content, isAtEnd, toEnd, keepPlace, onScroll }
}
