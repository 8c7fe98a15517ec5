/** Counts the outcomes of all runs in this process. */
const met = new Map<string, number>()

export const count = (what: string): void => void met.set(what, (met.get(what) ?? 0) + 1)

export const timesMet = (what: string): number => met.get(what) ?? 0

export const allMet = (): readonly string[] => [...met].map(([what, times]) => `${what} (${times})`).sort()
