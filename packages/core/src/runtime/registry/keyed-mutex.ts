/** Runs work with the same key one after the other. */
export function createKeyedMutex<Key>() {
  const last = new Map<Key, Promise<void>>()
  return {
    take<Value>(key: Key, work: () => Promise<Value>): Promise<Value> {
      const before = last.get(key)
      const result = before ? before.then(work) : work()
      const ended = result.then(
        () => undefined,
        () => undefined, // the caller gets the error
      )
      last.set(key, ended)
      ended.then(() => {
        if (last.get(key) === ended) last.delete(key)
      })
      return result
    },
    /** Resolves when no work with this key runs; null when none runs now. */
    free: (key: Key): Promise<void> | null => last.get(key) ?? null,
  }
}
