/** How many stories are told of requests in each run, and how many commands are drawn for one; about a quarter of them come to pass. */
export const requestRuns = { stories: 2000, commandsMax: 50 } as const
