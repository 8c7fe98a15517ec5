import { dayOf, type Fault, localPayer, type ModelName, ok, type Payer, type Result } from '@holdfast/protocol'
import { applies, findCapFault, type Payment } from '../policy/spending-cap.ts'
import type { Facts } from '../session/facts.ts'
import type { EffectDeps, RuntimeDeps } from './dependencies.ts'

/** Returns why a payer may not call a model in a workspace now; null if it may. Reads what was spent only if a cap applies. */
export async function findCap(
  { store, caps = [], clock, models }: Pick<RuntimeDeps, 'store' | 'caps' | 'clock' | 'models'>,
  { model, ...payment }: Payment & { readonly model: ModelName },
): Promise<Fault | null> {
  const applying = [...caps, ...(await store.caps())].filter((cap) => applies(cap, payment))
  if (applying.length === 0) return null
  const nowMs = clock.now()
  const day = dayOf(new Date(nowMs).toISOString())
  const spent = await store.spentOn(day, payment)
  const found = models.find(model)
  const isPriced = found.type !== 'ready' || found.isPriced !== false
  const isOfToken = applying.some(({ token }) => token !== undefined && token !== localPayer)
  const payer = isOfToken ? (await store.tokens()).find(({ id }) => id === payment.payer) : undefined
  return findCapFault({ caps: applying, day, nowMs, spent, model, isPriced, payerName: payer?.name ?? null })
}

/** Returns the cap that keeps a turn from starting now. A running turn meets its cap itself. */
export async function findTurnCap(deps: EffectDeps, payer: Payer): Promise<Fault | null> {
  const { turn, origin, settings } = deps.state()
  if (!origin || turn.phase !== 'idle') return null
  return findCap(deps, { payer, workspace: origin.workdir, model: settings.model })
}

/** Adds the cap that keeps a turn from starting now. The store is asked for caps while the other facts are looked up. */
export async function withCap(deps: EffectDeps, payer: Payer, finding: Promise<Result<Facts>>): Promise<Result<Facts>> {
  const isIdle = deps.state().turn.phase === 'idle'
  const asked = findTurnCap(deps, payer)
  asked.catch(() => undefined) // only who needs the answer gets the failure
  const facts = await finding
  if (!facts.ok) return facts
  // A slash command may have run programs meanwhile.
  const capped = await (facts.value.expanded ? findTurnCap(deps, payer) : asked)
  return ok({ ...facts.value, ...(capped ? { capped } : { isUnderCaps: isIdle }) })
}
