/**
 * How much is simulated, and from which seed: the one place where that is read.
 *
 * `SEED=27 npx vitest run --project simulation test/simulation/<file>` runs one seed of a file: a failure prints that line.
 * `npm run test:soak` goes on with ever new seeds for SOAK_MINUTES (10), from a random one that it prints, or from SEED.
 */
export const runs = {
  /** Of each cast. */
  stories: 500,
  decisions: 2000,
  histories: 200,
  moves: 2000,
} as const

const asked = process.env['SEED']

export const isOneSeed = asked !== undefined

export const seedsOf = (count: number): readonly number[] =>
  asked === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(asked)]

const batchSize = 50

/** So many seeds to a test that a list of the tests can be read. */
export function batchesOf(count: number): readonly { readonly first: number; readonly seeds: readonly number[] }[] {
  const seeds = seedsOf(count)
  const starts = seeds.filter((_, index) => index % batchSize === 0)
  return starts.map((first, index) => ({ first, seeds: seeds.slice(index * batchSize, (index + 1) * batchSize) }))
}

/** Runs further seeds until nothing is missing: a command that is added makes the others rarer, which is no failure. */
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

/** The line that tells a failure again. */
export const replay = (seed: number, file: string): string =>
  `SEED=${seed} npx vitest run --project simulation test/simulation/${file}.simulation.test.ts`
