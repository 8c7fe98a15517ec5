import { createContext, useContext, useSyncExternalStore } from 'react'
import type { Screens } from './screens.ts'

/** The state of a page that follows no news. */
export const alone: Screens = {
  connection: { state: 'live' },
  retryAtMs: null,
  waiting: new Map(),
  subscribe: () => () => undefined,
  follow: () => () => undefined,
  retry: () => undefined,
}

export const ScreensContext = createContext<Screens>(alone)

export const useScreens = (): Screens => useContext(ScreensContext)

/** Returns one value of what the screens share. The component is redrawn only when it changes. */
export function useShared<Value>(read: (screens: Screens) => Value): Value {
  const screens = useScreens()
  return useSyncExternalStore(screens.subscribe, () => read(screens))
}

/** Returns whether the connection is lost: nothing can be sent then. */
export const useIsLost = (): boolean =>
  useShared(({ connection }) => connection.state === 'waiting' || connection.state === 'ended')
