import { dayOf, type Fault, type ModelName } from '@holdfast/protocol'
import { applies, findCapFault, type Payment } from '../policy/spending-cap.ts'
import type { RuntimeDeps } from './dependencies.ts'

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
  return findCapFault({ caps: applying, day, nowMs, spent, model, isPriced })
}
