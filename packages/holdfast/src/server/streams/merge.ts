/** Yields the items of many sources in one line, fairly: each source has at most one item waiting. */
export type Merge<Item> = ReturnType<typeof createMerge<Item>>

/**
 * Creates a line without sources. Nothing is read from a source until the reader is done with its last item. `hold` counts an
 * item that waits; the returned function is called when the reader is done with it.
 */
export function createMerge<Item>(hold: (item: Item) => () => void) {
  const waiting: { readonly item: Item; readonly taken: () => void }[] = []
  let wake = () => {}
  let isOver = false

  const offer = async (item: Item): Promise<void> => {
    const release = hold(item)
    await new Promise<void>((taken) => {
      waiting.push({ item, taken })
      wake()
    })
    release()
  }

  return {
    /** Adds a source. Resolves when it has ended or the line is over; its errors are the caller's. */
    async add(source: AsyncIterable<Item>): Promise<void> {
      for await (const item of source) {
        if (isOver) return
        await offer(item)
        if (isOver) return
      }
    },

    /** Yields the items until `gone` aborts. */
    async *items(gone: AbortSignal): AsyncGenerator<Item> {
      gone.addEventListener('abort', () => wake(), { once: true })
      try {
        while (!gone.aborted) {
          const next = waiting.shift()
          if (next) {
            try {
              yield next.item
            } finally {
              next.taken()
            }
          } else {
            await new Promise<void>((resolve) => {
              wake = resolve
            })
          }
        }
      } finally {
        isOver = true
        for (const { taken } of waiting.splice(0)) taken()
      }
    },
  }
}
