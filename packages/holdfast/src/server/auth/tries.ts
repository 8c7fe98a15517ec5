const triesMax = 10
const windowMs = 60_000
const remotesMax = 1024

/** Counts bad tries by remote address, ten a minute. It is asked only about bad ones, so a good token is never locked out. */
export interface Tries {
  /** Notes one bad try; answers how many seconds to wait, or null while there are tries left. */
  note(remote: string): number | null
}

export function createTries({ now }: { readonly now: () => number }): Tries {
  const windows = new Map<string, { readonly until: number; count: number }>()

  return {
    note(remote) {
      const known = windows.get(remote)
      if (known === undefined || known.until <= now()) {
        // Forgetting all when someone comes from very many addresses costs them nothing they did not have.
        if (windows.size >= remotesMax) windows.clear()
        windows.set(remote, { until: now() + windowMs, count: 1 })
        return null
      }
      known.count++
      return known.count > triesMax ? Math.ceil((known.until - now()) / 1000) : null
    },
  }
}
