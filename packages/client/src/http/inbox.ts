/** Items that wait for one reader. */
export interface Inbox<Item> extends AsyncIterable<Item> {
  /** Adds an item. Returns false, and adds nothing, if too many wait or if it is closed. */
  push(item: Item): boolean
  /** Ends it once the items that wait are read. */
  close(): void
}

/** Creates an inbox for one `for await` loop. At most `max` items wait in it. */
export function createInbox<Item>(max: number): Inbox<Item> {
  let items: Item[] = []
  let isClosed = false
  let wake: () => void = () => undefined
  return {
    push(item) {
      if (isClosed || items.length >= max) return false
      items.push(item)
      wake()
      return true
    },
    close() {
      isClosed = true
      wake()
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const ready = items
        items = []
        yield* ready
        if (items.length > 0) continue
        if (isClosed) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
