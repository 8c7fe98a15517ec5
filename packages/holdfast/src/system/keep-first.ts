/** Collects the first items in an order, however many are added. */
export interface FirstItems<Item> {
  add(item: Item): void
  /** How many were added. */
  readonly count: number
  /** Returns the first items in order. */
  end(): readonly Item[]
}

/** Keeps the `max` first items by `compare`, in memory for about twice as many. */
export function keepFirst<Item>(max: number, compare: (one: Item, other: Item) => number): FirstItems<Item> {
  let kept: Item[] = []
  let count = 0
  /** The last item that is kept for sure; later ones need not be. */
  let last: Item | undefined
  const cut = () => {
    kept.sort(compare)
    kept = kept.slice(0, max)
    if (kept.length === max) last = kept.at(-1)
  }
  return {
    add(item) {
      count++
      if (last !== undefined && compare(item, last) >= 0) return
      kept.push(item)
      if (kept.length >= 2 * max + 1000) cut()
    },
    get count() {
      return count
    },
    end() {
      cut()
      return kept
    },
  }
}

/** Compares texts by code unit: the same on every machine, whatever its locale. */
export const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
