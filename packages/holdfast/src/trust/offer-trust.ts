import {
  fault,
  type JudgedOffer,
  OfferGrant,
  type OfferTrust,
  ok,
  parseAbsoluteFolder,
  parseOptions,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { findWorkspaceRoot } from '../system/files/workspace-root.ts'
import type { Offer } from './offer.ts'
import type { TrustedWorkspaces } from './trusted-workspaces.ts'

/** A folder, and the workspace it belongs to. */
export type OfferPlace = { readonly workdir: string; readonly workspace: string }

/** Finds what a workspace offers of one kind. */
export type FindOffers = (place: OfferPlace) => Promise<readonly Offer[]>

type OfferTrustDeps = {
  readonly trusted: TrustedWorkspaces
  readonly sources: readonly FindOffers[]
  /** The user's home directory. */
  readonly userDir: string
  readonly resolveWorkdir: (path: string) => Promise<Result<string>>
}

/** Compares what workspaces offer with what people trust. */
export function createOfferTrust({ trusted, sources, userDir, resolveWorkdir }: OfferTrustDeps): OfferTrust {
  const placeOf = async (given: string): Promise<Result<OfferPlace>> => {
    const folder = parseAbsoluteFolder(given)
    const workdir = folder.ok ? await resolveWorkdir(folder.value) : folder
    return workdir.ok
      ? ok({ workdir: workdir.value, workspace: await findWorkspaceRoot(workdir.value, userDir) })
      : workdir
  }
  const judge = async (place: OfferPlace) => {
    const found = await Promise.all(sources.map((find) => find(place)))
    const offers = await trusted.judge(place.workspace, found.flat())
    return offers.ok ? ok({ workspace: place.workspace, offers: [...offers.value] }) : offers
  }

  return {
    async offers(workdir) {
      const place = await placeOf(workdir)
      return place.ok ? judge(place.value) : place
    },

    async grant(given) {
      const grant = parseOptions(OfferGrant, given, 'trust the offers')
      if (!grant.ok) return grant
      const place = await placeOf(grant.value.workdir)
      if (!place.ok) return place
      const now = await judge(place.value)
      if (!now.ok) return now
      const meant: JudgedOffer[] = []
      for (const { kind, name, hash } of grant.value.offers) {
        const offer = now.value.offers.find((one) => one.kind === kind && one.name === name && one.hash === hash)
        if (offer === undefined) return refuse(fault('not_found', gone(kind, name), { kind, name }))
        meant.push(offer)
      }
      const granted = await trusted.grant(place.value.workspace, meant)
      return granted.ok ? judge(place.value) : granted
    },

    async revoke(workdir) {
      const place = await placeOf(workdir)
      if (!place.ok) return place
      const { workspace } = place.value
      const wasTrusted = await trusted.revoke(workspace)
      return wasTrusted.ok ? ok({ workspace, wasTrusted: wasTrusted.value }) : wasTrusted
    },

    list: () => trusted.list(),
  }
}

const gone = (kind: string, name: string): string =>
  `The workspace does not offer the ${kind} ${name} in this form now. Look at what it offers again.`
