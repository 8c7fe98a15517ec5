import {
  AgentList,
  type FaultCode,
  FolderServers,
  FolderSkills,
  HookList,
  ok,
  type Result,
  SlashCommandList,
  ToolList,
} from '@holdfast/protocol'
import { z } from 'zod'
import type { RouteName } from '../../auth/roles.ts'
import { answersJson, defineRoute, type Route } from '../../define/route.ts'
import type { ServerDeps } from '../../define/server-deps.ts'

type FolderRoute = {
  readonly on: RouteName
  readonly summary: string
  readonly answer: z.ZodType
  readonly refuses?: readonly FaultCode[]
  readonly read: (workdir: string, deps: ServerDeps) => Promise<Result<unknown>>
}

/** Builds a route that reads something of the folder `workdir`. */
const ofFolder = ({ on, summary, answer, refuses = ['not_found'], read }: FolderRoute): Route =>
  defineRoute({
    on,
    summary,
    query: z.strictObject({ workdir: z.string().min(1).max(4096) }),
    answers: answersJson(answer),
    refuses,
    handle: ({ input }, deps) => read(input.query.workdir, deps),
  })

/** Returns a list under its name in the answer. */
async function named(name: string, listed: Promise<Result<readonly unknown[]>>): Promise<Result<unknown>> {
  const found = await listed
  return found.ok ? ok({ [name]: found.value }) : found
}

/** The routes that list the hooks, tools, skills, agents, servers and commands of a folder. */
export const folderRoutes: readonly Route[] = [
  ofFolder({
    on: 'GET /v1/hooks',
    summary: 'List the hooks of a folder: those that run, and those of its workspace that do not',
    answer: HookList,
    refuses: ['not_found', 'bad_config'],
    read: (workdir, { hooks }) => named('hooks', hooks.list(workdir)),
  }),
  ofFolder({
    on: 'GET /v1/tools',
    summary: 'List the tools of a new session in a folder, with the rules and the sandbox in force',
    answer: ToolList,
    refuses: ['not_found', 'bad_config'],
    read: (workdir, { tools }) => tools.list({ workdir }),
  }),
  ofFolder({
    on: 'GET /v1/skills',
    summary: 'List the skills of a folder, of the user and of its workspace',
    answer: FolderSkills,
    read: (workdir, { folders }) => named('skills', folders.skills(workdir)),
  }),
  ofFolder({
    on: 'GET /v1/agents',
    summary: 'List the kinds of subagents of a folder, of the user and of its workspace',
    answer: AgentList,
    read: (workdir, { folders }) => named('agents', folders.agents(workdir)),
  }),
  ofFolder({
    on: 'GET /v1/servers',
    summary: 'List the MCP servers of a folder as they are now, of the user and of its workspace; starts none',
    answer: FolderServers,
    read: (workdir, { folders }) => folders.servers(workdir),
  }),
  ofFolder({
    on: 'GET /v1/commands',
    summary: 'List the slash commands that the first prompt of a session in a folder can begin with',
    answer: SlashCommandList,
    read: (workdir, { folders }) => named('commands', folders.commands(workdir)),
  }),
]
