import type { SessionView } from '@holdfast/protocol'
import { useId, useState, useSyncExternalStore } from 'react'

/** The panel beside the transcript. */
export type Panel = { readonly id: string; readonly isOpen: boolean; readonly toggle: () => void }

const key = 'holdfast.panel'
/** Narrower screens show it over the transcript, so it waits to be opened. As in panel.css. */
const wide = matchMedia('(width >= 1200px)')

const subscribe = (listener: () => void) => {
  wide.addEventListener('change', listener)
  return () => wide.removeEventListener('change', listener)
}

/** Opens the panel on a wide screen once there are tasks, until a person decides. */
export function usePanel(view: Pick<SessionView, 'todos'> | null): Panel {
  const id = useId()
  const isBeside = useSyncExternalStore(subscribe, () => wide.matches)
  const [chosen, setChosen] = useState(() => localStorage.getItem(key))
  const [isOver, setOver] = useState(false)
  const isOpenBeside = chosen === null ? (view?.todos.length ?? 0) > 0 : chosen === 'open'
  const toggle = () => {
    if (!isBeside) return setOver(!isOver)
    const next = isOpenBeside ? 'closed' : 'open'
    setChosen(next)
    localStorage.setItem(key, next)
  }
  return { id, isOpen: isBeside ? isOpenBeside : isOver, toggle }
}
