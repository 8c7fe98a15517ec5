import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { type KeyName, keyEntry, keyNames } from './key-table.ts'
import { isKey } from './match-key.ts'

/** Does what a key is for. Returns false if it cannot now: the key then keeps its own meaning. */
// biome-ignore lint/suspicious/noConfusingVoidType: most handlers return nothing
type Run = () => boolean | void

/** The handlers of each key, the newest last. */
const handlers = new Map<KeyName, Run[]>()
const listeners = new Set<() => void>()
let available: readonly KeyName[] = []

function changed(): void {
  available = keyNames.filter((name) => handlers.has(name))
  for (const listener of [...listeners]) listener()
}

/** Calls `run` while the component is there and `isOn`: for the keys of `name`, and when it is chosen in the palette. */
export function useKey(name: KeyName, run: Run, isOn = true): void {
  const latest = useEffectEvent(run)
  useEffect(() => {
    if (!isOn) return
    const mine: Run = () => latest()
    handlers.set(name, [...(handlers.get(name) ?? []), mine])
    listen()
    changed()
    return () => {
      const others = handlers.get(name)?.filter((one) => one !== mine) ?? []
      if (others.length > 0) handlers.set(name, others)
      else handlers.delete(name)
      changed()
    }
  }, [name, isOn])
}

/** Runs a command as its key does. Returns whether it was there and could be done. */
export const runKey = (name: KeyName): boolean => {
  const run = handlers.get(name)?.at(-1)
  return run !== undefined && run() !== false
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Returns the names that can be used now. */
export const useAvailableKeys = (): readonly KeyName[] => useSyncExternalStore(subscribe, () => available)

let isListening = false

function listen(): void {
  if (isListening) return
  isListening = true
  addEventListener('keydown', onKeyDown)
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  const name = keyNames.find((one) => handlers.has(one) && isKey(event, one) && isPlaceFor(one, event.target))
  if (name !== undefined && runKey(name)) event.preventDefault()
}

function isPlaceFor(name: KeyName, target: EventTarget | null): boolean {
  const { place } = keyEntry(name)
  if (place === 'on the element') return false
  if (isPopupOpen()) return false
  return place === 'everywhere' || !isField(target)
}

/** Returns whether a person writes there. */
export const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type="checkbox"], [type="radio"]), textarea, select'))

const popups = '.popup[data-open], .dialog[data-open], [role="alertdialog"], dialog[open]'

/** Returns whether a menu or a dialog is open, which then has the keys. */
export const isPopupOpen = (): boolean => document.querySelector(popups) !== null
