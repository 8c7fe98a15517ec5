import {
  AgentList,
  type FolderLister,
  FolderServers,
  FolderSkills,
  parseAbsoluteFolder,
  type Result,
  SlashCommandList,
} from '@holdfast/protocol'
import { type Http, parseAnswer, queryOf } from '../http/http.ts'

/** Lists what sessions of a folder of the server can use. */
export function createRemoteFolderLists(wire: Http): FolderLister {
  const read = async (route: string, given: string): Promise<Result<unknown>> => {
    const workdir = parseAbsoluteFolder(given)
    return workdir.ok ? wire.json(`${route}${queryOf({ workdir: workdir.value })}`) : workdir
  }
  return {
    async skills(workdir) {
      const answer = await read('/v1/skills', workdir)
      return parseAnswer(answer, 'a list of skills', FolderSkills.shape.skills, 'skills')
    },
    async agents(workdir) {
      const answer = await read('/v1/agents', workdir)
      return parseAnswer(answer, 'a list of agents', AgentList.shape.agents, 'agents')
    },
    async commands(workdir) {
      const answer = await read('/v1/commands', workdir)
      return parseAnswer(answer, 'a list of commands', SlashCommandList.shape.commands, 'commands')
    },
    servers: async (workdir) => parseAnswer(await read('/v1/servers', workdir), 'a list of servers', FolderServers),
  }
}
