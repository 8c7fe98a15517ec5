import type { FrameOf, Seq } from '@holdfast/protocol'

/** Records of the log as frames, and the last seq that was read. */
export type ReplayedPage = { readonly frames: readonly FrameOf<'record'>[]; readonly last: Seq | null }

/** Pages of so many places in the log are shared at once. */
const pagesMax = 8

/**
 * Shares the pages that clients read to catch up: when a network comes back, many ask for the same one. They get the same
 * frames, which are encoded once. A weak reference keeps a page no longer than the clients that still send it.
 */
export function createSharedPages() {
  const known = new Map<string, WeakRef<ReplayedPage>>()
  const reading = new Map<string, Promise<ReplayedPage>>()

  function remember(key: string, page: ReplayedPage): ReplayedPage {
    known.delete(key) // the newest last
    known.set(key, new WeakRef(page))
    const [oldest] = known.keys()
    if (oldest !== undefined && known.size > pagesMax) known.delete(oldest)
    return page
  }

  return (after: Seq, upTo: Seq, read: () => Promise<ReplayedPage>): Promise<ReplayedPage> => {
    const key = `${after} ${upTo}`
    const page = known.get(key)?.deref()
    if (page) return Promise.resolve(page)
    const running = reading.get(key)
    if (running) return running
    const mine = read()
      .then((found) => remember(key, found))
      .finally(() => reading.delete(key))
    reading.set(key, mine)
    return mine
  }
}
