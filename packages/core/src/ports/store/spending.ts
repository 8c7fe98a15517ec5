import type { Cap, Day, Payer, Result, Spent } from '@holdfast/protocol'

/** What model calls have cost, with the day in UTC, who pays and the workspace of the session. */
export type Charge = Spent & {
  /** The day in UTC. */
  readonly day: Day
  /** The token that pays, or `local`. */
  readonly payer: Payer
  /** The workspace of the session. */
  readonly workspace: string
}

/** What was spent on a day: in all, by a payer, and in a workspace. */
export type SpentOn = {
  /** By everyone. */
  readonly all: Spent
  /** By the payer, in all workspaces. */
  readonly payer: Spent
  /** In the workspace, by everyone. */
  readonly workspace: Spent
}

/** What was spent on a day by each payer and in each workspace, the largest first, as many as were asked for. */
export type ListedSpending = {
  /** In all. */
  readonly total: Spent
  /** By each payer. */
  readonly payers: readonly (Spent & { readonly payer: Payer })[]
  /** In each workspace. */
  readonly workspaces: readonly (Spent & { readonly workspace: string })[]
}

/** A cap as a store keeps it, at most one for each scope. Its token is an id, or `local`. */
export type StoredCap = Cap

/** What was spent by day, and the caps. An append adds its charge in the same transaction. */
export interface SpendingRows {
  /** Adds what a session spent that this store does not have. Resolves once it would survive a power cut. Refused: storage_error. */
  addCharge(charge: Charge): Promise<Result<void>>
  /** Returns what was spent on a day. Takes the same time however much was spent; a store may read more on its first question of a day. */
  spentOn(day: Day, of: Pick<Charge, 'payer' | 'workspace'>): Promise<SpentOn>
  /** Lists what was spent on a day. Each list has at most `limit` rows. */
  listSpending(day: Day, limit: number): Promise<ListedSpending>
  /** Returns all caps: first the one for everything, then those of tokens, then those of workspaces, each sorted. */
  caps(): Promise<readonly StoredCap[]>
  /** Sets a cap; it replaces the one of the same scope. Refused: storage_error. */
  setCap(cap: StoredCap): Promise<Result<void>>
  /** Removes the cap of a scope and returns whether there was one. Refused: storage_error. */
  removeCap(scope: Pick<Cap, 'token' | 'workspace'>): Promise<Result<boolean>>
}
