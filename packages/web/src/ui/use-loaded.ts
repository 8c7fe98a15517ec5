import type { Fault, Result } from '@holdfast/protocol'
import { useEffect, useState } from 'react'

/** What was loaded last, and why the newest load was refused. Null until the first answer. */
export type Loaded<Value> = { readonly value: Value | null; readonly fault: Fault | null }

/** Loads a value, again when one of `causes` changes. What is known stays meanwhile, and if the next load is refused. */
export function useLoaded<Value>(load: () => Promise<Result<Value>>, causes: readonly unknown[]): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ value: null, fault: null })
  useEffect(() => {
    let isLeft = false
    void load().then((answer) => {
      if (isLeft) return
      setLoaded((known) => (answer.ok ? { value: answer.value, fault: null } : { ...known, fault: answer.fault }))
    })
    return () => {
      isLeft = true
    }
    // biome-ignore lint/correctness/useExhaustiveDependencies: `load` is another function at each draw; `causes` say when to call it
  }, causes)
  return loaded
}

/** Returns a function that loads a value once. A load that failed is forgotten, so that the next call tries again. */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | null = null
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null
      throw error
    })
    return loading
  }
}
