import { type Folded, instructedBy, isOffered, judge, type Policy, type SessionState } from '@holdfast/core'
import type { PermissionRows, Permissions, Tool } from '@holdfast/core/ports'
import {
  BlobHash,
  isPathPattern,
  type ListedTool,
  noWorkdir,
  ok,
  type Permission,
  type PermissionRules,
  parseAbsoluteFolder,
  type Result,
  type ToolList,
  type ToolLister,
} from '@holdfast/protocol'
import { findInstructions } from '../context/instructions.ts'
import { createMemory } from '../context/memory/memory.ts'
import { createAgents } from '../guidance/agents/agents.ts'
import { createSkills } from '../guidance/skills/skills.ts'
import { permissionPath } from '../system/config/permission-file.ts'
import { configPath, layerConfig, readConfig } from '../system/config/read-config.ts'
import type { Environment, Home } from '../system/home.ts'
import { canHaveTargets, isAddressPattern, isRuleFor } from '../tools/permissions/call-targets.ts'
import { createPermissions } from '../tools/permissions/permissions.ts'
import { describeForPeople } from '../tools/sandbox/describe-sandbox.ts'
import type { Sandbox } from '../tools/sandbox/sandbox.ts'
import { createTools } from '../tools/tools.ts'
import { openTrustedWorkspaces } from './open-trusted-workspaces.ts'

type ListDeps = {
  readonly home: Pick<Home, 'configDir' | 'userDir'>
  readonly tools: { readonly all: readonly Tool[]; readonly sandbox: Sandbox['state'] }
  readonly permissions: Pick<Permissions, 'judge'> & Pick<PermissionRules, 'list'>
  /** Whether commands in the sandbox have the network unless a rule forbids it. */
  readonly sandboxNetwork: boolean
}

/** Lists the tools of a runtime, with the rules and the sandbox in force. */
export const createToolLister = (
  deps: ListDeps & {
    /** Loads a session by its name. */
    readonly load: (name: string) => Promise<Result<Folded>>
    readonly resolveWorkdir: (workdir: string) => Promise<Result<string>>
  },
): ToolLister => ({
  async list(of) {
    if (of.session !== undefined) {
      const loaded = await deps.load(of.session)
      if (!loaded.ok) return loaded
      const { state, row } = loaded.value
      return listToolsIn(deps, row.entry.meta.workspace, state)
    }
    const folder = parseAbsoluteFolder(of.workdir)
    const workdir = folder.ok ? await deps.resolveWorkdir(folder.value) : folder
    return workdir.ok ? listToolsIn(deps, workdir.value) : workdir
  },
})

type StoredDeps = {
  readonly environment: Environment
  readonly home: Home
  readonly workdir: string
  /** The permission rules that the nodes of the store share. */
  readonly rows?: PermissionRows | undefined
  /** The session whose tools are listed; else those of a new one. */
  readonly session?: SessionState | undefined
}

/** Lists the built-in tools without a runtime; bubblewrap is tried out. */
export async function listTools({ environment, home, workdir, session, rows }: StoredDeps): Promise<Result<ToolList>> {
  const path = configPath(home.configDir)
  const file = await readConfig(path)
  if (!file.ok) return file
  const config = layerConfig({ file: { path, config: file.value }, environment, options: {} })
  if (!config.ok) return config
  const permissions = createPermissions({ file: permissionPath(home.configDir), shared: async () => rows })
  const { sandbox, sandboxNetwork } = config.value
  const memory = createMemory({ userFile: '', now: () => 0 })
  const { configDir, userDir } = home
  const places = { configDir, userDir, trusted: openTrustedWorkspaces(home) }
  const [skills, agents] = [createSkills(places), createAgents(places)]
  const tools = createTools({ environment, memory, skills, agents, sandbox, sandboxNetwork })
  return listToolsIn({ home, tools, permissions, sandboxNetwork }, workdir, session)
}

/** Lists the tools of a session, or of a new one, in a folder. */
async function listToolsIn(
  { home: { configDir, userDir }, tools, permissions, sandboxNetwork: network }: ListDeps,
  workdir: string,
  session?: SessionState,
): Promise<Result<ToolList>> {
  const rules = await permissions.list({ workspace: workdir })
  if (!rules.ok) return rules
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
      const isOf = (rule: Permission) =>
        (isRuleFor(rule, name) || (name === 'shell' && rule.tool === 'network')) &&
        !(rule.tool === '*' && isForOthers(name, rule.pattern)) &&
        (rule.pattern === undefined || canHaveTargets(input) || (rule.exact === true && rule.tool === name))
      return {
        name,
        about: description.split('. ', 1)[0] ?? '',
        isReadOnly,
        isDestructive,
        verdict: judge(facts, policy).type,
        rules: [...own, ...rules.value].filter(isOf).map(wordsOf),
      }
    })
  const instructed = { workdir, ...(session ? instructedBy(session) : { folders: [], permissions: own }) }
  const told = workdir === noWorkdir ? [] : await findInstructions({ permissions, configDir, userDir }, instructed)
  return ok({
    workdir,
    tools: await Promise.all(listed),
    instructions: told.map(({ text: _, ...one }) => one),
    sandbox: { ...state, network: !state.isInForce || network, about: describeForPeople(state) },
    ...(session && { boundaries: session.boundaries.map(({ path, start, end }) => ({ path, start, end })) }),
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
