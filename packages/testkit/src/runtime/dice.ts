/** Creates seeded randomness. The same seed gives the same run, byte for byte. */
export function createDice(seed: number) {
  let state = seed >>> 0
  const roll = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    /** Returns an integer from 0 to `limit` - 1. */
    below: (limit: number): number => Math.floor(roll() * limit),
    /** Returns one of the items, or undefined if there are none. */
    pick: <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(roll() * items.length)],
    /** Returns true with a probability of `times` / `outOf`. */
    chance: (times: number, outOf: number): boolean => Math.floor(roll() * outOf) < times,
  }
}

/** A source of chance that repeats with its seed. */
export type Dice = ReturnType<typeof createDice>
