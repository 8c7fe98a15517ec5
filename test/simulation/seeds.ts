/** Seeds that once found a bug. They are lived through in every run, and never taken out. */
export const seedsThatFoundBugs: readonly number[] = [1, 5, 6, 10, 11, 15, 17, 22, 33, 1663]
