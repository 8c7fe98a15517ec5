/** Seeds that once found a bug. They are lived through in every run, and never taken out. */
export const seedsThatFoundBugs: readonly number[] = []
