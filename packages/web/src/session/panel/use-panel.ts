import type { SessionView } from '@holdfast/protocol'
import { useEffect, useId, useState, useSyncExternalStore } from 'react'

/** A part of the panel that the header leads to. */
export type PanelPart = 'shells' | 'subagents' | 'boundaries'

/** The panel beside the transcript. */
export type Panel = {
  readonly id: string
  readonly isOpen: boolean
  readonly toggle: () => void
  /** Opens it, and moves the focus to one of its parts. */
  readonly show: (part: PanelPart) => void
}

export const panelPartId = (part: PanelPart): string => `panel-${part}`

const key = 'holdfast.panel'
/** Narrower screens show it over the transcript, so it waits to be opened. As in panel/panel.css. */
const wide = matchMedia('(width >= 1200px)')

const subscribe = (listener: () => void) => {
  wide.addEventListener('change', listener)
  return () => wide.removeEventListener('change', listener)
}

/** Opens the panel on a wide screen once there are tasks, until a person decides. */
export function usePanel(view: Pick<SessionView, 'todos'> | null, question: string | undefined): Panel {
  const id = useId()
  const isBeside = useSyncExternalStore(subscribe, () => wide.matches)
  const [chosen, setChosen] = useState(() => localStorage.getItem(key))
  const [isOver, setOver] = useState(false)
  const [asked, setAsked] = useState<{ readonly part: PanelPart } | null>(null)
  const isOpenBeside = chosen === null ? (view?.todos.length ?? 0) > 0 : chosen === 'open'
  const setOpen = (isOpen: boolean) => {
    if (!isBeside) return setOver(isOpen)
    const next = isOpen ? 'open' : 'closed'
    setChosen(next)
    localStorage.setItem(key, next)
  }
  // After the draw that opened the panel: before it there is nothing to go to.
  useEffect(() => {
    if (asked) document.getElementById(panelPartId(asked.part))?.focus()
  }, [asked])
  // A panel over the transcript would hide the question.
  useEffect(() => {
    if (question !== undefined) setOver(false)
  }, [question])
  const isOpen = isBeside ? isOpenBeside : isOver
  return {
    id,
    isOpen,
    toggle: () => setOpen(!isOpen),
    show(part) {
      setOpen(true)
      setAsked({ part })
    },
  }
}
