/**
 * The number of simulated runs, and their first seed.
 *
 * `SEED=27 npx vitest run --project simulation test/simulation/<file>` runs one seed of a file. A failure prints that line.
 * The numbers keep `npm test` short. `npm run test:soak` runs new seeds for SOAK_MINUTES (10), from SEED or a random one, which it prints.
 */
export const runs = {
  /** With and without named clients, each. */
  sessions: 80,
  hookedSessions: 30,
  /** Trees of subagents, half of them with hooks. */
  trees: 60,
  decisions: 300,
  /** Three nodes on one database. */
  clusters: 25,
  histories: 50,
  moves: 300,
} as const

const asked = process.env['SEED']

export const isOneSeed = asked !== undefined

export const seedsOf = (count: number): readonly number[] =>
  asked === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(asked)]

const batchSize = 50

/** Groups seeds into tests, so that the list of tests stays readable. */
export function batchesOf(count: number): readonly { readonly first: number; readonly seeds: readonly number[] }[] {
  const seeds = seedsOf(count)
  const starts = seeds.filter((_, index) => index % batchSize === 0)
  return starts.map((first, index) => ({ first, seeds: seeds.slice(index * batchSize, (index + 1) * batchSize) }))
}

/** Runs more seeds until no outcome is missing. A new command makes the others rarer, which is not a failure. */
export async function runUntilMet(
  firstSeed: number,
  missing: () => readonly string[],
  run: (seed: number) => Promise<void>,
): Promise<readonly string[]> {
  for (let seed = firstSeed; seed < firstSeed + furtherSeedsMax && missing().length > 0; seed++) await run(seed)
  return missing()
}

const furtherSeedsMax = 2000

export const soak = {
  minutes: Number(process.env['SOAK_MINUTES'] ?? 10),
  firstSeed: asked === undefined ? Math.floor(Math.random() * 1e9) : Number(asked),
}

/** Returns the command that repeats a failing seed. */
export const replay = (seed: number, file: string): string =>
  `SEED=${seed} npx vitest run --project simulation test/simulation/${file}.simulation.test.ts`
