import { z } from 'zod'

const count = z.int().min(0)

/** Messages and usage. Calls without a known price are in no sum; they are counted as unpriced. */
export const Tally = z.object({
  messages: count,
  turns: count,
  /** Model calls, and how many of them have no known price. */
  calls: count,
  unpriced: count,
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  /** Null when there were calls and none had a price. */
  cost: z.number().min(0).nullable(),
})
export type Tally = z.infer<typeof Tally>

/** Totals of a store, sessions in the trash included. */
export const Stats = z.object({
  /** How many sessions are listed, pinned, in the trash, and started without a message. */
  sessions: z.object({ listed: count, pinned: count, trashed: count, unspoken: count }),
  /** Messages and usage of all sessions. */
  total: Tally,
  /** The last days with messages, in UTC, newest first. */
  days: z.array(Tally.extend({ day: z.string() })),
  /** The same for each model. */
  models: z.array(Tally.extend({ model: z.string() })),
  /** The same for each workspace. */
  workspaces: z.array(Tally.extend({ workspace: z.string(), sessions: count })),
  /** The size of the store. */
  store: z.object({
    records: count,
    /** Size of the database file, or of all log files. */
    recordBytes: count,
    /** Size of what can be rebuilt: catalogue and snapshots of a file store. In SQLite they are part of the database. */
    indexBytes: count,
    blobs: count,
    blobBytes: count,
  }),
})
export type Stats = z.infer<typeof Stats>

/** Which days to count. */
export const StatsOptions = z.strictObject({
  /** How many days to show, up to today; 30 when absent. */
  days: z.int().min(1).max(3660).optional(),
})
export type StatsOptions = z.input<typeof StatsOptions>
