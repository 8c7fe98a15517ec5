import { AgentList, FolderServers, FolderSkills, HookList, ok, SlashCommandList, ToolList } from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, type Route } from '../../define/route.ts'

const ofFolder = z.strictObject({ workdir: z.string().min(1).max(4096) })

const listHooks = defineRoute({
  on: 'GET /v1/hooks',
  summary: 'List the hooks of a folder: those that run, and those of its workspace that do not',
  query: ofFolder,
  answers: answersJson(HookList),
  refuses: ['not_found', 'bad_config'],
  async handle({ input }, { hooks }) {
    const found = await hooks.list(input.query.workdir)
    return found.ok ? ok({ hooks: [...found.value] }) : found
  },
})

const listTools = defineRoute({
  on: 'GET /v1/tools',
  summary: 'List the tools of a new session in a folder, with the rules and the sandbox in force',
  query: ofFolder,
  answers: answersJson(ToolList),
  refuses: ['not_found', 'bad_config'],
  handle: ({ input }, { tools }) => tools.list({ workdir: input.query.workdir }),
})

const listSkills = defineRoute({
  on: 'GET /v1/skills',
  summary: 'List the skills of a folder, of the user and of its workspace',
  query: ofFolder,
  answers: answersJson(FolderSkills),
  refuses: ['not_found'],
  async handle({ input }, { folders }) {
    const found = await folders.skills(input.query.workdir)
    return found.ok ? ok({ skills: [...found.value] }) : found
  },
})

const listAgents = defineRoute({
  on: 'GET /v1/agents',
  summary: 'List the kinds of subagents of a folder, of the user and of its workspace',
  query: ofFolder,
  answers: answersJson(AgentList),
  refuses: ['not_found'],
  async handle({ input }, { folders }) {
    const found = await folders.agents(input.query.workdir)
    return found.ok ? ok({ agents: [...found.value] }) : found
  },
})

const listServers = defineRoute({
  on: 'GET /v1/servers',
  summary: 'List the MCP servers of a folder as they are now, of the user and of its workspace; starts none',
  query: ofFolder,
  answers: answersJson(FolderServers),
  refuses: ['not_found'],
  handle: ({ input }, { folders }) => folders.servers(input.query.workdir),
})

const listCommands = defineRoute({
  on: 'GET /v1/commands',
  summary: 'List the slash commands that the first prompt of a session in a folder can begin with',
  query: ofFolder,
  answers: answersJson(SlashCommandList),
  refuses: ['not_found'],
  async handle({ input }, { folders }) {
    const found = await folders.commands(input.query.workdir)
    return found.ok ? ok({ commands: [...found.value] }) : found
  },
})

/** The routes for what counts in a folder. */
export const workspaceRoutes: readonly Route[] = [
  listHooks,
  listTools,
  listSkills,
  listAgents,
  listServers,
  listCommands,
]
