/** Runs work concurrently within `size` slots: `run` waits for free slots, `idle` for the end of all work. */
export function createPool(size: number) {
  const running = new Set<Promise<void>>()
  let taken = 0
  let failed: { readonly cause: unknown } | null = null
  return {
    async run(work: () => Promise<void>, slots = 1): Promise<void> {
      while (taken > 0 && taken + slots > size) await Promise.race(running)
      taken += slots
      const one: Promise<void> = work()
        .catch((cause) => {
          failed ??= { cause }
        })
        .finally(() => {
          taken -= slots
          running.delete(one)
        })
      running.add(one)
    },
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.race(running)
      if (failed) throw failed.cause
    },
  }
}
