import type { SessionId } from '@holdfast/protocol'

/** How long changes are collected: one notice for many of them. */
const collectMs = 50
/** A payload of NOTIFY has less than 8,000 bytes. A notice without ids tells to read all changes. */
const idsMax = 200

/**
 * Tells other nodes which sessions changed, at most once in `collectMs` and outside of the append: a NOTIFY within it would
 * make the commits of all nodes wait for each other. A lost notice delays news, and loses none: the rows tell.
 */
export function createChangeNotices(notify: (payload: string) => Promise<void>) {
  let waiting = new Set<SessionId>()
  let timer: NodeJS.Timeout | null = null
  let sending: Promise<void> | null = null

  function send(): void {
    timer = null
    const ids = waiting
    waiting = new Set()
    const payload = ids.size > idsMax ? '' : [...ids].join(' ')
    sending = notify(payload)
      .catch(() => undefined) // the followers find the change in the rows
      .finally(() => {
        sending = null
        if (waiting.size > 0) start()
      })
  }
  function start(): void {
    if (sending === null) timer ??= setTimeout(send, collectMs).unref()
  }

  return {
    add(sessions: readonly SessionId[]): void {
      for (const id of sessions) waiting.add(id)
      start()
    },
    /** Sends what waits. */
    async close(): Promise<void> {
      await sending
      if (timer === null) return
      clearTimeout(timer)
      send()
      await sending
    },
  }
}
