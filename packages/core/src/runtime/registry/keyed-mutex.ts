/** Runs work with the same key one after the other. */
export interface KeyedMutex<Key> {
  take<Value>(key: Key, work: () => Promise<Value>): Promise<Value>
  /** Resolves when no work with this key runs; null when none runs now. */
  free(key: Key): Promise<void> | null
}

export function createKeyedMutex<Key>(): KeyedMutex<Key> {
  const last = new Map<Key, Promise<void>>()
  return {
    take(key, work) {
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
    free: (key) => last.get(key) ?? null,
  }
}
