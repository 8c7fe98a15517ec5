import { createHash } from 'node:crypto'
import type { JudgedOffer } from '@holdfast/protocol'

/** One thing that a workspace offers. Nothing of it counts before a person trusts exactly this. */
export type Offer = Omit<JudgedOffer, 'verdict' | 'before' | 'diff'>

type NewOffer = Omit<Offer, 'hash'> & {
  /** The content of the workspace's files that it runs: a hook may stay the same while its script changes. */
  readonly files?: ReadonlyMap<string, Uint8Array> | undefined
}

export function createOffer({ files = new Map(), ...offer }: NewOffer): Offer {
  const hash = createHash('sha256').update(JSON.stringify([offer.kind, offer.name, offer.text]))
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(JSON.stringify([path, createHash('sha256').update(content).digest('hex')]))
  return { ...offer, hash: hash.digest('hex') }
}
