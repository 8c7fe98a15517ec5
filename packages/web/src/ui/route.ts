import { useSyncExternalStore } from 'react'

/** The route. It is in the hash, so that the server serves one page and logs no session names. */
type Route =
  | { readonly at: 'new' | 'trash' | 'settings' }
  /** All questions that wait for a person. */
  | { readonly at: 'waiting' }
  | {
      readonly at: 'session'
      readonly name: string
      /** The subagent that is open beside the session. */
      readonly child?: string | undefined
      /** The message to go to. */
      readonly message?: number | undefined
    }

export function parseRoute(hash: string): Route {
  if (hash === '#/trash') return { at: 'trash' }
  if (hash === '#/settings') return { at: 'settings' }
  if (hash === '#/waiting') return { at: 'waiting' }
  const [, name, child, message] =
    /^#\/s\/([A-Za-z0-9_-]{1,100})(?:\/([A-Za-z0-9_-]{1,100}))?(?:\?message=(\d{1,15}))?$/.exec(hash) ?? []
  if (name === undefined) return { at: 'new' }
  const place = message === undefined ? {} : { message: Number(message) }
  return { at: 'session', name, ...(child !== undefined && { child }), ...place }
}

export function hrefOf(route: Route): string {
  if (route.at !== 'session') return route.at === 'new' ? '#/' : `#/${route.at}`
  const { name, child, message } = route
  return `#/s/${name}${child ? `/${child}` : ''}${message === undefined ? '' : `?message=${message}`}`
}

export const goTo = (route: Route): void => {
  location.hash = hrefOf(route)
}

const subscribe = (listener: () => void) => {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

export const useRoute = (): Route => parseRoute(useSyncExternalStore(subscribe, () => location.hash))
