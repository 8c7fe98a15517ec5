import { useSyncExternalStore } from 'react'

/** The route. It is in the hash, so that the server serves one page and logs no session names. */
type Route = { readonly at: 'new' } | { readonly at: 'session'; readonly name: string }

export function parseRoute(hash: string): Route {
  const name = /^#\/s\/([A-Za-z0-9_-]{1,100})$/.exec(hash)?.[1]
  return name === undefined ? { at: 'new' } : { at: 'session', name }
}

export const hrefOf = (route: Route): string => (route.at === 'session' ? `#/s/${route.name}` : '#/')

export const goTo = (route: Route): void => {
  location.hash = hrefOf(route)
}

const subscribe = (listener: () => void) => {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

export const useRoute = (): Route => parseRoute(useSyncExternalStore(subscribe, () => location.hash))
