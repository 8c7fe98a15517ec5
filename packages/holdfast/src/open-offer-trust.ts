import { join } from 'node:path'
import type { OfferTrust } from '@holdfast/protocol'
import { readWorkspaceMemory } from './context/memory/memory.ts'
import { offerMemory } from './context/memory/memory-trust.ts'
import { createSkills } from './guidance/skills/skills.ts'
import { resolveWorkdir } from './system/files/resolve-path.ts'
import type { Home } from './system/home.ts'
import { unifiedDiff } from './tools/edits/unified-diff.ts'
import { createOfferTrust, type FindOffers } from './trust/offer-trust.ts'
import { createTrustedWorkspaces, type TrustedWorkspaces } from './trust/trusted-workspaces.ts'

/** Opens what people trust of workspaces: files of this machine, which all processes share. */
export const openTrustedWorkspaces = ({ dataDir }: Home): TrustedWorkspaces =>
  createTrustedWorkspaces(join(dataDir, 'trust'), unifiedDiff)

/** Returns the trust in workspaces, for the library and `holdfast trust`: it needs no store. */
export function openOfferTrust(home: Home): OfferTrust {
  const { configDir, userDir } = home
  const trusted = openTrustedWorkspaces(home)
  const skills = createSkills({ configDir, userDir, trusted })
  return createOfferTrust({ trusted, sources: [findMemories, skills.offers], userDir, resolveWorkdir })
}

const findMemories: FindOffers = async ({ workspace, workdir }) => {
  const remembered = await readWorkspaceMemory(workdir)
  return remembered ? [offerMemory(workspace, workdir, remembered.text)] : []
}
