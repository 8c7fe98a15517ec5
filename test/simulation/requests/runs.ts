/** The number of random runs, and of commands drawn for each. About a quarter of the commands apply. */
export const requestRuns = { runs: 150, commandsMax: 50 } as const
