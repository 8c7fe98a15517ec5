type Ordered = { readonly order: number }

/** The page behind a place of what is sorted by its order: found by halves, so that all pages cost no more than all rows. */
export function pageAfter<Row extends Ordered>(sorted: readonly Row[], after: number, limit: number): readonly Row[] {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const there = sorted[middle]
    if (there !== undefined && there.order <= after) from = middle + 1
    else to = middle
  }
  return sorted.slice(from, from + limit)
}
