import { useSyncExternalStore } from 'react'

/** As in styles/narrow.css. */
const query = '(width < 800px)'
/** As in styles/narrow.css, for the input. */
const small = '(width < 800px), (height < 480px)'

const subscribe = (listener: () => void) => {
  const media = matchMedia(small)
  media.addEventListener('change', listener)
  return () => media.removeEventListener('change', listener)
}

/** Returns whether the page is as narrow as a phone. */
export const isNarrow = (): boolean => matchMedia(query).matches

/** Returns whether there is room for little: on a phone, upright or on its side. */
export const useSmall = (): boolean => useSyncExternalStore(subscribe, () => matchMedia(small).matches)
