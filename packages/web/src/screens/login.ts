import { useSyncExternalStore } from 'react'

/** Knows whether the server still accepts the login of this page. */
export type Login = ReturnType<typeof createLogin>

/** Watches the answers of the server: the first one with status 401 says that the login has ended. */
export function createLogin(send: typeof fetch) {
  const listeners = new Set<() => void>()
  let isEnded = false
  const set = (next: boolean) => {
    if (isEnded === next) return
    isEnded = next
    for (const listener of [...listeners]) listener()
  }
  return {
    /** Sends a request as `fetch` does. */
    fetch: (async (input, init) => {
      const response = await send(input, init)
      if (response.status === 401) set(true)
      return response
    }) as typeof fetch, // the same parameters and result
    isEnded: () => isEnded,
    /** Called after another login, or to try again. */
    retry: () => set(false),
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export const useLoginEnded = (login: Login): boolean => useSyncExternalStore(login.subscribe, login.isEnded)

/** What stays after a log out: choices about the page, which say nothing about the work. */
const keptKeys = ['holdfast.appearance', 'holdfast.grouping', 'holdfast.panel', 'holdfast.notify-off']

/** Removes what this browser has stored for the person who logs out, such as drafts. */
export function forgetPrivate(storages: readonly Pick<Storage, 'length' | 'key' | 'removeItem'>[]): void {
  for (const storage of storages) {
    const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '')
    for (const key of keys) if (key.startsWith('holdfast.') && !keptKeys.includes(key)) storage.removeItem(key)
  }
}
