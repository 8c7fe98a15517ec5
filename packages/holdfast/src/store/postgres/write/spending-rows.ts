import type { SpendingRows } from '@holdfast/core/ports'
import { done, ok } from '@holdfast/protocol/result'
import { noneSpent } from '@holdfast/protocol/sum-spent'
import { allRows, oldestDay, scopeKey, toCap, toSpent } from '../../ledger.ts'
import { attempt, type Database } from '../connect/connect.ts'

const sums = 'calls, unpriced, tokens, cost'

/** Stores what was spent, and the caps. */
export function createSpendingRows({ read, write }: Database): SpendingRows {
  const list = (day: string, name: 'payer' | 'workspace', limit: number) =>
    read(
      `select ${name} as name, ${sums} from @spending where day = $1 and ${name} <> '${allRows}'
        and ${name === 'payer' ? 'workspace' : 'payer'} = '${allRows}' order by cost desc, tokens desc, ${name} limit $2`,
      [day, limit],
    )
  const sumOf = async (day: string, payer: string, workspace: string) => {
    const [row] = await read(`select ${sums} from @spending where day = $1 and payer = $2 and workspace = $3`, [
      ...[day, payer, workspace],
    ])
    return row === undefined ? noneSpent : toSpent(row)
  }

  return {
    addCharge: (charge) =>
      attempt(async () => {
        await write('select @add_charges($1::jsonb)', [
          JSON.stringify([{ ...charge, oldestDay: oldestDay(charge.day) }]),
        ])
        return done
      }),
    async spentOn(day, { payer, workspace }) {
      const rows = await read(
        `select payer, workspace, ${sums} from @spending
        where day = $1 and (payer, workspace) in (('${allRows}', '${allRows}'), ($2, '${allRows}'), ('${allRows}', $3))`,
        [day, payer, workspace],
      )
      const of = (by: string, where: string) => {
        const row = rows.find((one) => one['payer'] === by && one['workspace'] === where)
        return row === undefined ? noneSpent : toSpent(row)
      }
      return { all: of(allRows, allRows), payer: of(payer, allRows), workspace: of(allRows, workspace) }
    },
    async listSpending(day, limit) {
      const [total, payers, workspaces] = await Promise.all([
        sumOf(day, allRows, allRows),
        list(day, 'payer', limit),
        list(day, 'workspace', limit),
      ])
      return {
        total,
        payers: payers.map((row) => ({ payer: String(row['name']), ...toSpent(row) })),
        workspaces: workspaces.map((row) => ({ workspace: String(row['name']), ...toSpent(row) })),
      }
    },
    caps: async () => (await read('select token, workspace, max_cost, max_tokens from @cap order by scope')).map(toCap),
    setCap: (cap) =>
      attempt(async () => {
        const { token = null, workspace = null, maxCost = null, maxTokens = null } = cap
        await write(
          `insert into @cap (scope, token, workspace, max_cost, max_tokens) values ($1, $2, $3, $4, $5)
          on conflict (scope) do update set max_cost = excluded.max_cost, max_tokens = excluded.max_tokens`,
          [scopeKey(cap), token, workspace, maxCost, maxTokens],
        )
        return done
      }),
    removeCap: (scope) =>
      attempt(async () =>
        ok((await write('delete from @cap where scope = $1 returning scope', [scopeKey(scope)])).length > 0),
      ),
  }
}
