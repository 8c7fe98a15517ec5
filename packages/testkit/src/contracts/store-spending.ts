import type { Charge } from '@holdfast/core/ports'
import { noneSpent, type Spent } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import {
  appendTo,
  codeOf,
  mustAppend,
  mustCreate,
  newSession,
  type OpenStore,
  sessionId,
  useStore,
} from './store-fixture.ts'

const day = '2026-01-02'
const [anna, ben] = ['tok_000000000000000a', 'tok_000000000000000b']

/** A charge of one call, as a batch of records has it. */
export const aCharge = (
  payer: string,
  workspace: string,
  cost: number | null,
  change: Partial<Charge> = {},
): Charge => ({
  day,
  payer,
  workspace,
  calls: 1,
  unpriced: cost === null ? 1 : 0,
  tokens: 100,
  cost,
  ...change,
})

const spent = (calls: number, cost: number | null, unpriced = 0): Spent => ({
  calls,
  unpriced,
  tokens: calls * 100,
  cost,
})

/** Describes what was spent: a charge is added with its append or not at all, and outlives its session. */
export function describeSpending(open: OpenStore): void {
  const store = useStore(open)
  const spentOn = (payer: string, workspace: string, on = day) => store().spentOn(on, { payer, workspace })

  describe('what was spent', () => {
    it('is nothing at first', async () => {
      expect(await spentOn('local', '/work')).toStrictEqual({ all: noneSpent, payer: noneSpent, workspace: noneSpent })
      expect(await store().listSpending(day, 10)).toStrictEqual({ total: noneSpent, payers: [], workspaces: [] })
    })

    it('is added up by day, payer and workspace, with each append', async () => {
      await mustCreate(store(), newSession(1), newSession(2))
      await mustAppend(store(), appendTo(1, 1, { charge: aCharge(anna, '/one', 0.25) }))
      await mustAppend(store(), appendTo(2, 1, { charge: aCharge(ben, '/two', 0.5) }))
      await mustAppend(store(), appendTo(1, 2, { charge: aCharge(anna, '/two', 1) }))
      await mustAppend(store(), appendTo(1, 3))
      await mustAppend(store(), appendTo(2, 2, { charge: aCharge(ben, '/two', 8, { day: '2026-01-03' }) }))
      expect(await spentOn(anna, '/two')).toStrictEqual({
        all: spent(3, 1.75),
        payer: spent(2, 1.25),
        workspace: spent(2, 1.5),
      })
      expect(await spentOn('nobody', '/nowhere')).toMatchObject({ payer: noneSpent, workspace: noneSpent })
      expect(await spentOn(ben, '/two', '2026-01-03')).toMatchObject({ all: spent(1, 8), payer: spent(1, 8) })
      expect(await store().listSpending(day, 10)).toStrictEqual({
        total: spent(3, 1.75),
        payers: [
          { payer: anna, ...spent(2, 1.25) },
          { payer: ben, ...spent(1, 0.5) },
        ],
        workspaces: [
          { workspace: '/two', ...spent(2, 1.5) },
          { workspace: '/one', ...spent(1, 0.25) },
        ],
      })
      expect((await store().listSpending(day, 1)).payers).toHaveLength(1)
    })

    it('counts a call without a price, and its cost is unknown, never 0', async () => {
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), appendTo(1, 1, { charge: aCharge(anna, '/one', null) }))
      expect((await spentOn(anna, '/one')).payer).toStrictEqual(spent(1, null, 1))
      await mustAppend(store(), appendTo(1, 2, { charge: aCharge(anna, '/one', 0.5) }))
      expect((await spentOn(anna, '/one')).payer).toStrictEqual(spent(2, 0.5, 1))
    })

    it('stays unchanged when the append is refused', async () => {
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), appendTo(1, 1, { charge: aCharge(anna, '/one', 1) }))
      const charge = aCharge(anna, '/one', 5)
      expect(codeOf(await store().append(appendTo(1, 1, { charge })))).toBe('log_moved')
      expect(codeOf(await store().append(appendTo(1, 2, { charge, epoch: 2 })))).toBe('fenced')
      expect(codeOf(await store().append(appendTo(9, 0, { charge })))).toBe('session_not_found')
      expect((await spentOn(anna, '/one')).all).toStrictEqual(spent(1, 1))
    })

    it('is added once by each of many appends at the same time', async () => {
      const numbers = [1, 2, 3, 4, 5, 6, 7, 8]
      await mustCreate(store(), ...numbers.map((number) => newSession(number)))
      await Promise.all(
        numbers.map((number) => store().append(appendTo(number, 1, { charge: aCharge(anna, '/one', 0.5) }))),
      )
      const [asked] = await Promise.all([
        spentOn(anna, '/one'),
        ...numbers.map((number) => store().append(appendTo(number, 2, { charge: aCharge(anna, '/one', 0.5) }))),
      ])
      expect(asked.all.calls).toBeGreaterThanOrEqual(8)
      expect((await spentOn(anna, '/one')).all).toStrictEqual(spent(16, 8))
    })

    it('outlives the session, and has charges of sessions that are elsewhere', async () => {
      await mustCreate(store(), { ...newSession(1), owner: null }, newSession(2))
      await mustAppend(store(), appendTo(1, 1, { charge: aCharge(anna, '/one', 1) }))
      await mustAppend(store(), appendTo(2, 1, { charge: aCharge(ben, '/two', 2) }))
      expect(codeOf(await store().addCharge(aCharge(anna, '/one', 0.5)))).toBe('ok')
      expect(codeOf(await store().purge(sessionId(1)))).toBe('ok')
      expect(await spentOn(anna, '/two')).toStrictEqual({
        all: spent(3, 3.5),
        payer: spent(2, 1.5),
        workspace: spent(1, 2),
      })
    })
  })

  describe('caps', () => {
    it('are kept, one for each scope, in order', async () => {
      expect(await store().caps()).toEqual([])
      const caps = [
        { maxCost: 20 },
        { token: anna, maxCost: 2.5, maxTokens: 1000 },
        { workspace: '/für 日本', maxTokens: 0 },
      ]
      for (const cap of caps.toReversed()) expect(codeOf(await store().setCap(cap))).toBe('ok')
      expect(await store().caps()).toStrictEqual(caps)
      await store().setCap({ token: anna, maxTokens: 7 })
      expect(await store().caps()).toStrictEqual([caps[0], { token: anna, maxTokens: 7 }, caps[2]])
      expect(await store().removeCap({ token: anna })).toEqual({ ok: true, value: true })
      expect(await store().removeCap({ token: anna })).toEqual({ ok: true, value: false })
      expect(await store().removeCap({})).toEqual({ ok: true, value: true })
      expect(await store().caps()).toStrictEqual([caps[2]])
    })
  })
}
