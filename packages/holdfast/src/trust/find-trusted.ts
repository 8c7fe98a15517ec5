import type { OfferKind } from '@holdfast/protocol'
import type { Offer } from './offer.ts'
import type { TrustedWorkspaces } from './trusted-workspaces.ts'

type Candidates<Thing> = {
  readonly trusted: Pick<TrustedWorkspaces, 'items' | 'judge'>
  readonly workspace: string
  readonly kind: OfferKind
  readonly things: readonly Thing[]
  readonly nameOf: (thing: Thing) => string
  /** Returns the thing as an offer, with everything it consists of; null if it cannot be trusted. */
  readonly offer: (thing: Thing) => Promise<Offer | null>
}

/**
 * Returns the things of a workspace that a person trusts exactly as they are now. Only those that were trusted once are
 * read in full. If the trust cannot be read, none is trusted.
 */
export async function findTrusted<Thing>(candidates: Candidates<Thing>): Promise<ReadonlySet<Thing>> {
  const { trusted, workspace, kind, things, nameOf, offer } = candidates
  const chosen = new Set<Thing>()
  if (things.length === 0) return chosen
  const items = await trusted.items(workspace)
  if (!items.ok) return chosen
  const known = new Set(items.value.filter((item) => item.kind === kind).map(({ name }) => name))
  for (const thing of things) {
    const offered = known.has(nameOf(thing)) ? await offer(thing) : null
    const judged = offered && (await trusted.judge(workspace, [offered]))
    if (judged?.ok && judged.value[0]?.verdict === 'trusted') chosen.add(thing)
  }
  return chosen
}
