import {
  type ActiveSkill,
  type FoundSkill,
  type InstructionFile,
  type ListedSkill,
  ok,
  type Result,
  type SessionServer,
  type SlashCommand,
} from '@holdfast/protocol'
import type { Skills, SlashCommands } from '../../ports/guidance.ts'
import type { Servers } from '../../ports/servers.ts'
import { listInstructions } from '../effects/prepare-step.ts'
import type { Folded } from '../log/load-session.ts'
import type { SessionReader } from './session-reader.ts'

/** Lists the skills for the folder of a session, with those that it follows. */
export async function listSkills(
  skills: Skills | undefined,
  reader: Pick<SessionReader, 'state'>,
): Promise<Result<readonly ListedSkill[]>> {
  const state = await reader.state(['meta', 'skills'])
  if (!state.ok) return state
  const found = await skills?.list(state.value.meta.workspace)
  return ok((found?.skills ?? []).map((skill) => withActivation(skill, state.value.skills)))
}

/** Adds whether the session follows a skill. Only the skill that its name means can be active. */
function withActivation(skill: FoundSkill, active: readonly ActiveSkill[]): ListedSkill {
  const found = skill.shadowedBy === null ? active.find(({ name }) => name === skill.name) : undefined
  if (!found) return { ...skill, active: null }
  const { name: _, ...rest } = found
  return { ...skill, active: rest }
}

/** Lists the MCP servers for the folder of a session, with those that it does not use. */
export async function listServers(
  servers: Servers | undefined,
  reader: Pick<SessionReader, 'state'>,
): Promise<Result<readonly SessionServer[]>> {
  const state = await reader.state(['meta', 'serversOff'])
  if (!state.ok) return state
  const { meta, serversOff } = state.value
  const found = (await servers?.list(meta.workspace)) ?? []
  return ok(found.map((server) => ({ ...server, isOn: !serversOff.includes(server.name) })))
}

/** Lists the slash commands that can be used in the folder of a session. */
export async function listCommands(
  commands: SlashCommands | undefined,
  reader: Pick<SessionReader, 'state'>,
): Promise<Result<readonly SlashCommand[]>> {
  const state = await reader.state(['meta', 'serversOff'])
  if (!state.ok) return state
  const { meta, serversOff } = state.value
  return ok((await commands?.list(meta.workspace, serversOff)) ?? [])
}

/** Lists the files of instructions that the model is told at the next step of a session. */
export const listInstructionFiles = async (
  deps: Parameters<typeof listInstructions>[0],
  folded: Result<Folded>,
): Promise<Result<readonly InstructionFile[]>> =>
  folded.ok ? ok(await listInstructions(deps, folded.value.state)) : folded
