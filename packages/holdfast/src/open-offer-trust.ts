import { join } from 'node:path'
import type { OfferTrust } from '@holdfast/protocol'
import { readWorkspaceMemory } from './context/memory/memory.ts'
import { offerMemory } from './context/memory/memory-trust.ts'
import { resolveWorkdir } from './system/files/resolve-path.ts'
import type { Home } from './system/home.ts'
import { createOfferTrust, type FindOffers } from './trust/offer-trust.ts'
import { createTrustedWorkspaces, type TrustedWorkspaces } from './trust/trusted-workspaces.ts'

/** Opens what people trust of workspaces: files of this machine, which all processes share. */
export const openTrustedWorkspaces = ({ dataDir }: Home): TrustedWorkspaces =>
  createTrustedWorkspaces(join(dataDir, 'trust'))

/** Returns the trust in workspaces, for the library and `holdfast trust`: it needs no store. */
export const openOfferTrust = (home: Home): OfferTrust =>
  createOfferTrust({
    trusted: openTrustedWorkspaces(home),
    sources: [findMemories],
    userDir: home.userDir,
    resolveWorkdir,
  })

const findMemories: FindOffers = async ({ workspace, workdir }) => {
  const remembered = await readWorkspaceMemory(workdir)
  return remembered ? [offerMemory(workspace, workdir, remembered.text)] : []
}
