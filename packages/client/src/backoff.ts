/** How long to wait before the next try: doubles up to the most, with chance in it, so that a crowd does not return at once. */
export function backoffMs(failures: number, chance: number): number {
  const most = Math.min(250 * 2 ** failures, 10_000)
  return Math.round(most * (0.5 + chance / 2))
}

/** Resolves after `ms`, or at once when `signal` aborts. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const settle = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', settle)
      resolve()
    }
    const timer = setTimeout(settle, ms)
    signal?.addEventListener('abort', settle)
  })
}
