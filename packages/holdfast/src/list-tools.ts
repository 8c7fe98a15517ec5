import { instructedBy, isOffered, judge, type Policy, type SessionState } from '@holdfast/core'
import type { Tool } from '@holdfast/core/ports'
import {
  BlobHash,
  type InstructionFile,
  isPathPattern,
  noWorkdir,
  ok,
  type Permission,
  type Result,
} from '@holdfast/protocol'
import { findInstructions } from './context/instructions.ts'
import { createMemory } from './context/memory/memory.ts'
import { createSkills } from './guidance/skills/skills.ts'
import { openTrustedWorkspaces } from './open-trusted-workspaces.ts'
import { permissionPath } from './system/config/permission-file.ts'
import { configPath, layerConfig, readConfig } from './system/config/read-config.ts'
import type { Environment, Home } from './system/home.ts'
import { canHaveTargets, isAddressPattern } from './tools/permissions/call-targets.ts'
import { createPermissions } from './tools/permissions/permissions.ts'
import { describeForPeople } from './tools/sandbox/describe-sandbox.ts'
import type { SandboxState } from './tools/sandbox/sandbox.ts'
import { createTools } from './tools/tools.ts'

/** What `holdfast tools` shows: the tools of a folder or session, and what limits them. */
export type ToolList = {
  readonly workdir: string
  readonly sandbox: SandboxState & {
    /** Whether commands have the network without a rule and without being asked. */
    readonly network: boolean
    /** What that means, in a sentence. */
    readonly about: string
  }
  readonly tools: readonly ListedTool[]
  /** The files of instructions that the model is told. Later ones count more. */
  readonly instructions: readonly InstructionFile[]
}

/** A built-in tool. */
export type ListedTool = {
  readonly name: string
  readonly about: string
  readonly isReadOnly: boolean
  readonly isDestructive: boolean
  /** What happens to a call that no rule with a pattern covers. */
  readonly verdict: 'allow' | 'ask' | 'deny'
  /** The rules of the user and of the session, in words. */
  readonly rules: readonly string[]
}

type ListDeps = {
  readonly environment: Environment
  readonly home: Home
  readonly workdir: string
  /** The session whose tools are listed; else those of a new one. */
  readonly session?: SessionState | undefined
}

/** Lists the built-in tools with the rules and the sandbox in force. It needs no store; bubblewrap is tried out. */
export async function listTools({ environment, home, workdir, session }: ListDeps): Promise<Result<ToolList>> {
  const path = configPath(home.configDir)
  const file = await readConfig(path)
  if (!file.ok) return file
  const config = layerConfig({ file: { path, config: file.value }, environment, options: {} })
  if (!config.ok) return config
  const permissions = createPermissions({ file: permissionPath(home.configDir) })
  const rules = await permissions.list({ workspace: workdir })
  if (!rules.ok) return rules
  const { sandbox: setting, sandboxNetwork: network } = config.value
  const memory = createMemory({ userFile: '', now: () => 0 })
  const { configDir, userDir } = home
  const skills = createSkills({ configDir, userDir, trusted: openTrustedWorkspaces(home) })
  const tools = createTools({ environment, memory, skills, sandbox: setting, sandboxNetwork: network })
  const state = await tools.sandbox(workdir)
  const own = session?.settings.permissions ?? []
  const policy: Policy = { settings: session?.settings ?? { mode: 'exec' }, trust: session?.trust ?? [] }
  const unusable = await findUnusable(tools.all, workdir)
  const listed = tools.all
    .filter((tool) => !unusable.has(tool))
    .filter((tool) => !session?.origin || isOffered(session.origin, tool))
    .map(async ({ schema: { name, description, input }, isReadOnly, isDestructive }): Promise<ListedTool> => {
      const ruling = await permissions.judge({ tool: name, args: {}, workdir }, own)
      const facts = { tool: name, isReadOnly, isDestructive, ruling, workspaceTrust: [], argsHash: noHash }
      const isNamed = (tool: string) => tool === name || tool === '*' || (name === 'shell' && tool === 'network')
      const isOf = (rule: Permission) =>
        isNamed(rule.tool) &&
        !(rule.tool === '*' && isForOthers(name, rule.pattern)) &&
        (rule.pattern === undefined || canHaveTargets(input) || (rule.exact === true && rule.tool === name))
      return {
        ...{ name, about: description.split('. ', 1)[0] ?? '', isReadOnly, isDestructive },
        verdict: judge(facts, policy).type,
        rules: [...own, ...rules.value].filter(isOf).map(wordsOf),
      }
    })
  const instructed = { workdir, ...(session ? instructedBy(session) : { folders: [], permissions: own }) }
  const told = workdir === noWorkdir ? [] : await findInstructions({ permissions, configDir, userDir }, instructed)
  return ok({
    ...{ workdir, tools: await Promise.all(listed), instructions: told.map(({ text: _, ...one }) => one) },
    sandbox: { ...state, network: !state.isInForce || network, about: describeForPeople(state) },
  })
}

/** Returns the tools that are of no use in a folder: that for skills, if there are none. */
async function findUnusable(tools: readonly Tool[], workdir: string): Promise<ReadonlySet<Tool>> {
  const found = await Promise.all(
    tools.map(async (tool) => (tool.schemaIn ? await tool.schemaIn(workdir) : tool.schema)),
  )
  return new Set(tools.filter((_, index) => found[index] === null))
}

/** Whether a pattern of a rule for all tools is one of paths, and the tool takes a command or an address. */
const isForOthers = (name: string, pattern: string | undefined): boolean =>
  pattern !== undefined &&
  ((name === 'shell' && isPathPattern(pattern)) || (name === 'fetch_url' && !isAddressPattern(pattern)))

/** The arguments of no call. */
const noHash = BlobHash.parse('0'.repeat(64))

const wordsOf = ({ verdict, tool, pattern }: Permission): string => [verdict, tool, pattern ?? []].flat().join(' ')
