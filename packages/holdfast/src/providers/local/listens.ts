import { connect } from 'node:net'

/**
 * Whether anything listens at an address of this machine. Mostly nothing does, and then the library that speaks HTTP, which
 * takes its time to load, is not loaded for it.
 */
export function listens(address: string, signal: AbortSignal): Promise<boolean> {
  const { hostname, port, protocol } = new URL(address)
  const usualPort = protocol === 'https:' ? 443 : 80
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || usualPort })
    const tell = (isHeard: boolean) => {
      signal.removeEventListener('abort', giveUp)
      socket.destroy()
      resolve(isHeard)
    }
    const giveUp = () => tell(false)
    signal.addEventListener('abort', giveUp)
    socket.on('connect', () => tell(true)).on('error', giveUp)
    if (signal.aborted) giveUp()
  })
}
