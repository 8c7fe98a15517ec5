import {
  type Cap,
  type Day,
  dayAfter,
  type Fault,
  fault,
  localPayer,
  type ModelName,
  reachedAmount,
  type Spent,
} from '@holdfast/protocol'
import type { Charge, SpentOn } from '../ports/store/spending.ts'

/** Who would pay for a model call, and where. */
export type Payment = Pick<Charge, 'payer' | 'workspace'>

type Situation = {
  /** The caps that apply. */
  readonly caps: readonly Cap[]
  readonly day: Day
  readonly nowMs: number
  readonly spent: SpentOn
  readonly model: ModelName
  readonly isPriced: boolean
  /** The name of the token that pays; null if it has none. */
  readonly payerName: string | null
}

/** Whether a cap limits a payment. */
export const applies = ({ token, workspace }: Pick<Cap, 'token' | 'workspace'>, payment: Payment): boolean =>
  (token === undefined || token === payment.payer) && (workspace === undefined || workspace === payment.workspace)

/** Returns which sum of a day counts for a cap. */
export function spentOf({ token, workspace }: Pick<Cap, 'token' | 'workspace'>, spent: SpentOn): Spent {
  if (token !== undefined) return spent.payer
  return workspace === undefined ? spent.all : spent.workspace
}

/** Returns why no model call may start: a cap is reached, or a cap in dollars cannot count a model without a price. */
export function findCapFault(situation: Situation): Fault | null {
  const { caps, day, nowMs, spent, model, isPriced, payerName } = situation
  for (const cap of caps) {
    const sum = spentOf(cap, spent)
    const amount = reachedAmount(cap, sum)
    if (amount !== null) return capReached(cap, amount, sum, { day, nowMs, payerName })
  }
  const blind = isPriced
    ? undefined
    : caps.find(({ maxCost, maxTokens }) => maxCost !== undefined && maxTokens === undefined)
  return blind ? priceUnknown(blind, model, payerName) : null
}

function capReached(
  cap: Cap,
  amount: 'cost' | 'tokens',
  spent: Spent,
  { day, nowMs, payerName }: Pick<Situation, 'day' | 'nowMs' | 'payerName'>,
): Fault {
  const opensAt = dayAfter(day)
  const used = amount === 'cost' ? `${dollars(spent.cost ?? 0)} was` : `${spent.tokens} tokens were`
  const message = `The cap of ${amountText(cap, amount)} a day for ${scopeText(cap, payerName)} is reached: ${used} spent today. It opens again at ${opensAt.slice(0, 16).replace('T', ' ')} UTC; or raise it (holdfast caps), then continue.`
  return fault('spending_cap', message, {
    limit: amount,
    ...cap,
    spent,
    opensAt,
    retryAfterSeconds: Math.max(1, Math.ceil((Date.parse(opensAt) - nowMs) / 1000)),
  })
}

function priceUnknown(cap: Cap, model: ModelName, payerName: string | null): Fault {
  const message = `The price of ${model} is unknown, so the cap of ${amountText(cap, 'cost')} a day for ${scopeText(cap, payerName)} cannot count it. Set its price in the config (0 if it is free), give the cap a limit of tokens too, or choose another model.`
  return fault('price_unknown', message, { model, ...cap })
}

const amountText = ({ maxCost = 0, maxTokens = 0 }: Cap, amount: 'cost' | 'tokens'): string =>
  amount === 'cost' ? dollars(maxCost) : `${maxTokens} tokens`

/** Writes dollars with two to four digits after the point. */
const dollars = (amount: number): string => `$${amount.toFixed(4).replace(/0{1,2}$/, '')}`

function scopeText({ token, workspace }: Cap, payerName: string | null): string {
  if (token === localPayer) return 'the person at this machine'
  if (token !== undefined) return payerName === null ? `token ${token}` : `the token ${payerName} (${token})`
  return workspace === undefined ? 'everything' : `the workspace ${workspace}`
}
