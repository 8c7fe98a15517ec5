import { join } from 'node:path'
import type { OwnPath, Permissions, Tool } from '@holdfast/core/ports'
import { createImages } from '../context/images.ts'
import { createInstructions } from '../context/instructions.ts'
import { createMemory } from '../context/memory/memory.ts'
import { createMemoryTrust } from '../context/memory/memory-trust.ts'
import { createSummaryFiles } from '../context/summary-files.ts'
import { createAgents } from '../guidance/agents/agents.ts'
import { createCommands } from '../guidance/commands/commands.ts'
import { createSkills } from '../guidance/skills/skills.ts'
import { createMemoryBlobs } from '../store/blobs/memory-blobs.ts'
import { resolveWorkdir } from '../system/files/resolve-path.ts'
import type { Environment, Home } from '../system/home.ts'
import { newHandle, newSessionId } from '../system/identity.ts'
import { wallClock } from '../system/wall-clock.ts'
import type { ReadRules } from '../tools/define/read-rules.ts'
import { createWorkspaceFiles } from '../tools/files/workspace-files.ts'
import type { McpServers } from '../tools/mcp/mcp-servers.ts'
import type { SandboxSetting } from '../tools/sandbox/sandbox.ts'
import { createCompletePaths } from '../tools/search/complete-paths.ts'
import type { CommandRules } from '../tools/shell/confinement.ts'
import { createTools } from '../tools/tools.ts'
import { openTrustedWorkspaces } from './open-trusted-workspaces.ts'
import { createPromptCommands } from './prompt-commands.ts'

/** Creates the adapters that need no opening. */
export function createAdapters(
  environment: Environment,
  home: Home,
  given: {
    readonly keyNames: readonly string[]
    readonly own: readonly Tool[]
    readonly fetchHosts: readonly string[]
    readonly shellEnvironment: readonly string[]
    readonly sandbox: SandboxSetting
    readonly sandboxNetwork: boolean
    readonly permissions: Pick<Permissions, 'judge'>
    readonly commandRules: CommandRules
    readonly readRules: ReadRules
    readonly servers: McpServers
    /** The store and its mirror may be outside of the home. */
    readonly storePaths: readonly OwnPath[]
  },
) {
  const { now } = wallClock
  const { configDir, dataDir, stateDir, userDir } = home
  const ownPaths = [dataDir, configDir, stateDir, ...given.storePaths]
  const trusted = openTrustedWorkspaces(home)
  const trust = createMemoryTrust(trusted, userDir)
  const memory = createMemory({ userFile: join(configDir, 'MEMORY.md'), now, trust })
  const skills = createSkills({ configDir, userDir, trusted })
  const agents = createAgents({ configDir, userDir, trusted })
  return {
    memoryBlobs: createMemoryBlobs(),
    images: createImages(),
    tools: createTools({
      ...given,
      environment,
      memory,
      skills,
      agents,
      ownPaths,
      shellDirectory: join(stateDir, 'shells'),
    }),
    instructions: createInstructions({ now, memory, skills, permissions: given.permissions, configDir, userDir }),
    skills,
    agents,
    servers: given.servers.forSessions,
    commands: createCommands({ configDir, userDir, trusted, skills, others: createPromptCommands(given.servers) }),
    summaryFiles: createSummaryFiles({ now }),
    files: createWorkspaceFiles(ownPaths),
    completePaths: createCompletePaths({ environment, ownPaths, readRules: given.readRules }),
    clock: wallClock,
    newSessionId,
    newHandle,
    resolveWorkdir,
  }
}
