import type { Agents, SlashCommands } from '@holdfast/core/ports'
import { type FolderLister, type FolderServers, type FoundSkill, ok, type Result } from '@holdfast/protocol'
import { resolveGivenFolder } from '../system/files/resolve-path.ts'

type FolderDeps = {
  readonly skills: { list(workdir: string): Promise<{ readonly skills: readonly FoundSkill[] }> }
  readonly agents: Pick<Agents, 'list'>
  readonly commands: Pick<SlashCommands, 'list'>
  readonly servers: { listForClients(workdir: string): Promise<FolderServers> }
}

/** Creates the lists of what counts in a folder. A folder is absolute: it must not depend on where a program was started. */
export function createFolderLister({ skills, agents, servers, commands }: FolderDeps): FolderLister {
  const within =
    <Value>(list: (workdir: string) => Promise<Value>) =>
    async (given: string): Promise<Result<Value>> => {
      const workdir = await resolveGivenFolder(given)
      return workdir.ok ? ok(await list(workdir.value)) : workdir
    }
  return {
    skills: within(async (workdir) => (await skills.list(workdir)).skills),
    agents: within((workdir) => agents.list(workdir)),
    servers: within((workdir) => servers.listForClients(workdir)),
    commands: within((workdir) => commands.list(workdir, [])),
  }
}
