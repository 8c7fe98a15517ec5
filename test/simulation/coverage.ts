/** Counts the outcomes of all runs in this process. */
const met = new Map<string, number>()

export const count = (outcome: string): void => void met.set(outcome, (met.get(outcome) ?? 0) + 1)

export const timesMet = (outcome: string): number => met.get(outcome) ?? 0

export const allMet = (): readonly string[] => [...met].map(([outcome, times]) => `${outcome} (${times})`).sort()
