import { relative } from 'node:path'
import type { OfferKind } from '@holdfast/protocol'
import { findWorkspaceRoot } from '../system/files/workspace-root.ts'
import type { Offer } from '../trust/offer.ts'
import type { FindOffers, OfferPlace } from '../trust/offer-trust.ts'
import type { TrustedWorkspaces } from '../trust/trusted-workspaces.ts'
import { type GuidanceKind, type GuidanceRoot, listGuidanceRoots } from './guidance-roots.ts'

/** Where the user keeps guidance, and what people trust of workspaces. */
export type GuidanceDeps = {
  readonly configDir: string
  readonly userDir: string
  readonly trusted: Pick<TrustedWorkspaces, 'items' | 'judge'>
}

/** How one kind of guidance is found. */
type GuidanceSource<Item> = {
  readonly kind: GuidanceKind
  /** Reads what the folders have of it, the first ones first. */
  readonly find: (roots: readonly GuidanceRoot[]) => Promise<readonly Item[]>
  /** Returns its file or folder, without links. */
  readonly pathOf: (item: Item) => string
  /** Returns it as an offer of its workspace, with everything it consists of; null if it cannot be trusted. */
  readonly offer: (name: string, item: Item) => Promise<Offer | null>
}

const readAtOnce = 16
const offerKinds: Readonly<Record<GuidanceKind, OfferKind>> = { skills: 'skill', commands: 'command', agents: 'agent' }

/** Finds guidance of one kind. That of a workspace counts once a person trusts it exactly as it is. */
export function createTrustedGuidance<Item extends Pick<GuidanceRoot, 'scope'>>(
  { configDir, userDir, trusted }: GuidanceDeps,
  { kind, find, pathOf, offer }: GuidanceSource<Item>,
) {
  const findIn = (place: OfferPlace) => find(listGuidanceRoots(kind, { ...place, configDir, userDir }))

  /** Returns what a person trusts. Only what was trusted once is read in full. Nothing, if the trust cannot be read. */
  async function findTrusted(workspace: string, items: readonly Item[]): Promise<ReadonlySet<Item>> {
    const chosen = new Set<Item>()
    const known = items.length === 0 ? null : await trusted.items(workspace)
    if (!known?.ok) return chosen
    const names = new Set(known.value.filter((one) => one.kind === offerKinds[kind]).map(({ name }) => name))
    const found: { readonly item: Item; readonly offered: Offer }[] = []
    for (let from = 0; from < items.length; from += readAtOnce)
      await Promise.all(
        items.slice(from, from + readAtOnce).map(async (item) => {
          const name = relative(workspace, pathOf(item))
          const offered = names.has(name) ? await offer(name, item) : null
          if (offered) found.push({ item, offered })
        }),
      )
    const offers = found.map(({ offered }) => offered)
    const judged = offers.length === 0 ? null : await trusted.judge(workspace, offers)
    if (!judged?.ok) return chosen
    for (const [index, { item }] of found.entries()) if (judged.value[index]?.verdict === 'trusted') chosen.add(item)
    return chosen
  }

  const offers: FindOffers = async (place) => {
    const items = (await findIn(place)).filter(({ scope }) => scope === 'workspace')
    const offered = await Promise.all(items.map((item) => offer(relative(place.workspace, pathOf(item)), item)))
    return offered.filter((one) => one !== null)
  }

  return {
    /** Finds what there is for a workdir, each with whether it may be used. */
    async find(workdir: string): Promise<readonly { readonly item: Item; readonly isTrusted: boolean }[]> {
      const workspace = await findWorkspaceRoot(workdir, userDir)
      const items = await findIn({ workdir, workspace })
      const ofWorkspace = items.filter(({ scope }) => scope === 'workspace')
      const trustedOnes = await findTrusted(workspace, ofWorkspace)
      return items.map((item) => ({ item, isTrusted: item.scope === 'user' || trustedOnes.has(item) }))
    },
    /** Returns what a workspace has of it, as offers. */
    offers,
  }
}
