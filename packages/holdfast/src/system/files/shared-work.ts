/** Runs work once for all who ask for the same key at the same time. What it returned is not kept. */
export function createSharedWork<Value>(work: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const running = new Map<string, Promise<Value>>()
  return (key) => {
    const known = running.get(key)
    if (known) return known
    const started = work(key).finally(() => running.delete(key))
    running.set(key, started)
    return started
  }
}
