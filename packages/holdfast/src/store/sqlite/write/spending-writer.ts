import type { DatabaseSync } from 'node:sqlite'
import type { Charge } from '@holdfast/core/ports'
import { done, ok } from '@holdfast/protocol/result'
import { allRows, oldestDay, scopeKey } from '../../ledger.ts'
import type { WriteRequests } from '../rows/requests.ts'

/** Creates a function that adds a charge to the sums of its day. The first one of a day removes sums that are too old. */
export function createChargeWriter(database: DatabaseSync): (charge: Charge) => void {
  const hasDay = database.prepare('select 1 from spending where day = ? limit 1')
  const dropBefore = database.prepare('delete from spending where day < ?')
  const add = database.prepare(`
    insert into spending (day, payer, workspace, calls, unpriced, tokens, cost) values (?, ?, ?, ?, ?, ?, ?)
    on conflict do update set calls = calls + excluded.calls, unpriced = unpriced + excluded.unpriced,
      tokens = tokens + excluded.tokens, cost = cost + excluded.cost`)
  return ({ day, payer, workspace, calls, unpriced, tokens, cost }) => {
    if (hasDay.get(day) === undefined) dropBefore.run(oldestDay(day))
    for (const by of [payer, allRows])
      for (const where of [workspace, allRows]) add.run(day, by, where, calls, unpriced, tokens, cost ?? 0)
  }
}

/** Writes charges that come without records, and the caps. The caller begins the transaction. */
export function createSpendingWriter(database: DatabaseSync) {
  const add = createChargeWriter(database)
  const putCap = database.prepare(
    'insert or replace into cap (scope, token, workspace, max_cost, max_tokens) values (?, ?, ?, ?, ?)',
  )
  const dropCap = database.prepare('delete from cap where scope = ?')
  return {
    addCharge(charge) {
      add(charge)
      return done
    },
    setCap(cap) {
      const { token = null, workspace = null, maxCost = null, maxTokens = null } = cap
      putCap.run(scopeKey(cap), token, workspace, maxCost, maxTokens)
      return done
    },
    removeCap: (scope) => ok(dropCap.run(scopeKey(scope)).changes !== 0),
  } satisfies Partial<WriteRequests>
}
