import { useSyncExternalStore } from 'react'

/** As in styles/narrow.css. */
const query = '(width < 800px)'

const subscribe = (listener: () => void) => {
  const media = matchMedia(query)
  media.addEventListener('change', listener)
  return () => media.removeEventListener('change', listener)
}

/** Returns whether the page is as narrow as a phone. */
export const isNarrow = (): boolean => matchMedia(query).matches

export const useNarrow = (): boolean => useSyncExternalStore(subscribe, isNarrow)
