import type { ReadRecord, Store } from '@holdfast/core/ports'

/** What went over the counter of a store. */
export type StoreCount = {
  /** Where each record lies that was read, again and again if it was. */
  readonly read: number[]
  /** What was handed over to be written, as JSON. */
  written: number
}

/** The same store, and what it is asked for. */
export function countStore(store: Store): { readonly store: Store; readonly count: StoreCount } {
  const count: StoreCount = { read: [], written: 0 }
  const seen = (page: readonly ReadRecord[]) => {
    for (const { seq } of page) count.read.push(seq)
    return page
  }
  const weigh = <Written>(written: Written): Written => {
    count.written += JSON.stringify(written).length
    return written
  }
  const counting: Store = {
    ...store,
    create: (session) => store.create(weigh(session)),
    append: (append) => store.append(weigh(append)),
    saveSnapshot: (session, snapshot) => store.saveSnapshot(session, weigh(snapshot)),
    read: async (session, range) => seen(await store.read(session, range)),
    readRefs: async (session, calls) => seen(await store.readRefs(session, calls)),
  }
  return { store: counting, count }
}
