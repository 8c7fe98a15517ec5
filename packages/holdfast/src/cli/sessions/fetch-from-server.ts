import type { Home } from '../../system/home.ts'
import { isServing, readServerFile, readToken } from './server-file.ts'

/**
 * Returns a `fetch` for the running server of a home, wherever that is now: a server that was restarted may have another
 * address and another token. Nothing is sent if none runs, because any program may listen at the address of a dead one.
 */
export const fetchFromServer =
  (home: Home): typeof fetch =>
  async (input, init) => {
    const server = readServerFile(home)
    if (!server || !isServing(home, server)) throw new Error('no server of this home directory is running')
    const { pathname, search } = new URL(input instanceof Request ? input.url : input)
    const headers = new Headers(init?.headers)
    const token = readToken(server)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    return fetch(`${new URL(server.url).origin}${pathname}${search}`, { ...init, headers })
  }
