import { z } from 'zod'

const count = z.int().min(0)

/** What was said and used. A price nobody knows is in no sum: such calls are counted as unpriced. */
export const Tally = z.object({
  messages: count,
  turns: count,
  /** Calls of a model, and how many of them have no known price. */
  calls: count,
  unpriced: count,
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  /** Null where there were calls and none had a price. */
  cost: z.number().min(0).nullable(),
})
export type Tally = z.infer<typeof Tally>

/** How much was said, used and kept in a store, sessions in the trash included. */
export const Stats = z.object({
  sessions: z.object({ listed: count, pinned: count, trashed: count, unspoken: count }),
  total: Tally,
  /** The last days on which something was said, in UTC, newest first. */
  days: z.array(Tally.extend({ day: z.string() })),
  models: z.array(Tally.extend({ model: z.string() })),
  workspaces: z.array(Tally.extend({ workspace: z.string(), sessions: count })),
  store: z.object({
    records: count,
    /** The file of the store, or all logs. */
    recordBytes: count,
    /** What can be made anew: of plain files the catalogue and stored folds; of SQLite it lies in the file. */
    indexBytes: count,
    blobs: count,
    blobBytes: count,
  }),
})
export type Stats = z.infer<typeof Stats>

export const StatsOptions = z.strictObject({
  /** How many days to show, today the last; 30 when absent. */
  days: z.int().min(1).max(3660).optional(),
})
export type StatsOptions = z.input<typeof StatsOptions>
