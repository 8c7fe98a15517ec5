import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Charge } from '@holdfast/core/ports'
import type { Spent } from '@holdfast/protocol'
import { noneSpent } from '@holdfast/protocol/sum-spent'
import { allRows, toCap, toSpent } from '../../ledger.ts'
import type { ReadRequests } from '../rows/requests.ts'
import { hasTable } from '../rows/schema.ts'

type Row = Readonly<Record<string, unknown>>

/** Answers what was spent, and lists the caps. A store of an earlier version has neither. */
export function createSpendingReader(database: DatabaseSync): Pick<ReadRequests, 'spentOn' | 'listSpending' | 'caps'> {
  let statements: ReturnType<typeof prepare> | null = null
  const prepared = () => {
    statements ??= hasTable(database, 'spending') ? prepare(database) : null
    return statements
  }
  const read = (day: string, payer: string, workspace: string): Spent => {
    const row = prepared()?.sum.get(day, payer, workspace)
    return row === undefined ? noneSpent : toSpent(row)
  }
  const list = (statement: StatementSync | undefined, day: string, limit: number): readonly Row[] =>
    statement?.all(day, limit) ?? []

  return {
    spentOn: (day, { payer, workspace }) => ({
      all: read(day, allRows, allRows),
      payer: read(day, payer, allRows),
      workspace: read(day, allRows, workspace),
    }),
    listSpending: (day, limit) => ({
      total: read(day, allRows, allRows),
      payers: list(prepared()?.payers, day, limit).map((row) => ({ payer: String(row['payer']), ...toSpent(row) })),
      workspaces: list(prepared()?.workspaces, day, limit).map((row) => ({
        workspace: String(row['workspace']),
        ...toSpent(row),
      })),
    }),
    caps: () => prepared()?.caps.all().map(toCap) ?? [],
  }
}

const sums = 'calls, unpriced, tokens, cost'
const largestFirst = 'order by cost desc, tokens desc'

const prepare = (database: DatabaseSync) => ({
  sum: database.prepare(`select ${sums} from spending where day = ? and payer = ? and workspace = ?`),
  payers: database.prepare(`
    select payer, ${sums} from spending where day = ? and payer <> '${allRows}' and workspace = '${allRows}'
    ${largestFirst}, payer limit ?`),
  workspaces: database.prepare(`
    select workspace, ${sums} from spending where day = ? and payer = '${allRows}' and workspace <> '${allRows}'
    ${largestFirst}, workspace limit ?`),
  caps: database.prepare('select token, workspace, max_cost, max_tokens from cap order by scope'),
})

/** Reads every charge of a store, for a copy. */
export const readCharges = (database: DatabaseSync): readonly Charge[] =>
  !hasTable(database, 'spending')
    ? []
    : database
        .prepare(`
          select day, payer, workspace, ${sums} from spending
          where payer <> '${allRows}' and workspace <> '${allRows}' order by day, payer, workspace`)
        .all()
        .map((row) => ({
          day: String(row['day']),
          payer: String(row['payer']),
          workspace: String(row['workspace']),
          ...toSpent(row),
        }))
