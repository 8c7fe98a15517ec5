import { useSyncExternalStore } from 'react'

/** The route. It is in the hash, so that the server serves one page and logs no session names. */
type Route =
  | { readonly at: 'new' }
  /** `child` is the subagent that is open beside the session. */
  | { readonly at: 'session'; readonly name: string; readonly child?: string | undefined }

export function parseRoute(hash: string): Route {
  const [, name, child] = /^#\/s\/([A-Za-z0-9_-]{1,100})(?:\/([A-Za-z0-9_-]{1,100}))?$/.exec(hash) ?? []
  return name === undefined ? { at: 'new' } : { at: 'session', name, ...(child !== undefined && { child }) }
}

export const hrefOf = (route: Route): string =>
  route.at === 'new' ? '#/' : `#/s/${route.name}${route.child ? `/${route.child}` : ''}`

export const goTo = (route: Route): void => {
  location.hash = hrefOf(route)
}

const subscribe = (listener: () => void) => {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

export const useRoute = (): Route => parseRoute(useSyncExternalStore(subscribe, () => location.hash))
