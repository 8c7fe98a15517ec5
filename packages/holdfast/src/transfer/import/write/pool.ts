/** Runs work concurrently within `size` slots: `run` waits for free slots, `idle` for the end of all work. */
export function createPool(size: number) {
  let taken = 0
  let failed: { readonly cause: unknown } | null = null
  let freed = Promise.withResolvers<void>()
  const free = (slots: number): void => {
    taken -= slots
    freed.resolve()
    freed = Promise.withResolvers()
  }
  return {
    async run(work: () => Promise<void>, slots = 1): Promise<void> {
      while (taken > 0 && taken + slots > size) await freed.promise
      taken += slots
      void work()
        .catch((cause) => {
          failed ??= { cause }
        })
        .finally(() => free(slots))
    },
    async idle(): Promise<void> {
      while (taken > 0) await freed.promise
      if (failed) throw failed.cause
    },
  }
}
