import type { OfferTrust } from '@holdfast/protocol'
import { readWorkspaceMemory } from '../context/memory/memory.ts'
import { offerMemory } from '../context/memory/memory-trust.ts'
import { createAgents } from '../guidance/agents/agents.ts'
import { createCommands } from '../guidance/commands/commands.ts'
import { createSkills } from '../guidance/skills/skills.ts'
import { findHookOffers } from '../hooks/workspace-hooks.ts'
import { resolveWorkdir } from '../system/files/resolve-path.ts'
import type { Home } from '../system/home.ts'
import { createOfferTrust, type FindOffers } from '../trust/offer-trust.ts'
import { findServers } from './open-servers.ts'
import { openTrustedWorkspaces } from './open-trusted-workspaces.ts'

/** Returns the trust in workspaces, for the library and `holdfast trust`: it needs no store. */
export function openOfferTrust(home: Home): OfferTrust {
  const { configDir, userDir } = home
  const trusted = openTrustedWorkspaces(home)
  const skills = createSkills({ configDir, userDir, trusted })
  const commands = createCommands({ configDir, userDir, trusted, skills })
  const agents = createAgents({ configDir, userDir, trusted })
  const sources = [findMemories, skills.offers, commands.offers, agents.offers, findServers, findHookOffers]
  return createOfferTrust({ trusted, sources, userDir, resolveWorkdir })
}

const findMemories: FindOffers = async ({ workspace, workdir }) => {
  const remembered = await readWorkspaceMemory(workdir)
  return remembered ? [offerMemory(workspace, workdir, remembered.text)] : []
}
