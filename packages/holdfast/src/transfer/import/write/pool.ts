/**
 * Runs a few things at once: `run` waits for as many places as the work takes, not for its end; `idle` waits for all,
 * and throws what one threw.
 */
export function createPool(size: number) {
  const running = new Set<Promise<void>>()
  let taken = 0
  let failed: { readonly cause: unknown } | null = null
  return {
    async run(work: () => Promise<void>, places = 1): Promise<void> {
      while (taken > 0 && taken + places > size) await Promise.race(running)
      taken += places
      const one: Promise<void> = work()
        .catch((cause) => {
          failed ??= { cause }
        })
        .finally(() => {
          taken -= places
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
