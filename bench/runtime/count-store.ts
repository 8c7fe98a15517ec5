import type { ReadRecord, Store } from '@holdfast/core/ports'

/** The traffic of a store. */
export type StoreCount = {
  /** The seq of each record read, once for each read. */
  readonly read: number[]
  /** Bytes of all that was written, as JSON. */
  written: number
}

/** Wraps a store and counts what is read from it and written to it. */
export function countStore(store: Store): { readonly store: Store; readonly count: StoreCount } {
  const count: StoreCount = { read: [], written: 0 }
  const countRead = (page: readonly ReadRecord[]) => {
    for (const { seq } of page) count.read.push(seq)
    return page
  }
  const countWritten = <Written>(written: Written): Written => {
    count.written += JSON.stringify(written).length
    return written
  }
  const counting: Store = {
    ...store,
    create: (session) => store.create(countWritten(session)),
    append: (append) => store.append(countWritten(append)),
    saveSnapshot: (session, snapshot) => store.saveSnapshot(session, countWritten(snapshot)),
    read: async (session, range) => countRead(await store.read(session, range)),
    readRefs: async (session, calls) => countRead(await store.readRefs(session, calls)),
  }
  return { store: counting, count }
}
