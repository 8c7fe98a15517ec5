import type { ChildView, ListedAgent } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import { shellWord } from '../../../system/shell-word.ts'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { withNamedSession } from '../../connect/connect.ts'
import { resolveWorkspace } from '../../connect/workspace.ts'
import { formatAge } from '../../render/tables.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { exitCodes, rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

type Flags = ArgsOf<typeof programSpecs.agents>['flags']

/** Lists the kinds of subagents for a folder, or the subagents of a session. */
export const run: RunCommand<typeof programSpecs.agents> = async ({ positionals: [session], flags }, context) => {
  if (session === undefined) return listKinds(flags, context)
  if (flags.workspace !== undefined) rejectUsage('A session has its own folder: leave --workspace out.')
  return withNamedSession(context, session, async (handle) => {
    const subagents = orThrow(await handle.subagents())
    if (flags.json) await context.out.writeJson({ subagents })
    else await printSubagents(subagents, session, context)
    return exitCodes.ok
  })
}

/** Prints the kinds of subagents, and below what is wrong with their files. */
async function listKinds(flags: Flags, context: CliContext): Promise<undefined> {
  if (flags.store !== undefined)
    rejectUsage('The kinds of subagents are files of this machine. With --store, name a session.')
  const { out, err } = context
  const agents = await readKinds(context, orThrow(resolveWorkspace(context, flags.workspace)))
  if (flags.json) {
    await out.writeJson({ agents })
    return undefined
  }
  const rows = agents.map(({ name, state, scope, tools, model, description }) => [
    ...[escapeLine(name), state, scope, escapeLine(tools?.join(', ') ?? 'all'), escapeLine(model ?? 'inherited')],
    escapeLine(description),
  ])
  await out.write(textTable(['AGENT', 'STATE', 'OF', 'TOOLS', 'MODEL', 'FOR'], rows, out))
  for (const { path, line, message } of agents.flatMap(({ problems }) => problems))
    await err.tell(`${escapeLine(path)}${line === null ? '' : `:${line}`}: ${escapeLine(message)}`)
  if (agents.some(({ state }) => state === 'untrusted'))
    await err.tell('An untrusted agent is not used before you trust it. holdfast trust shows it.')
  return undefined
}

async function readKinds({ server, home }: CliContext, workdir: string): Promise<readonly ListedAgent[]> {
  if (server) return (await import('../../connect/connect-given.ts')).connectGiven(server).agents(workdir)
  const { createAgents } = await import('../../../guidance/agents/agents.ts')
  const { openTrustedWorkspaces } = await import('../../../open/open-trusted-workspaces.ts')
  const { configDir, userDir } = home
  return createAgents({ configDir, userDir, trusted: openTrustedWorkspaces(home) }).list(workdir)
}

/** Prints a row for each subagent, indented below the one that started it, and how to answer those that wait. */
async function printSubagents(subagents: readonly ChildView[], session: string, context: CliContext): Promise<void> {
  const { out, err, now } = context
  if (subagents.length === 0) return err.tell('The session has started no subagents.')
  const rows = inTreeOrder(subagents).map(({ handle, depth, status, agent, background, model, startedAt, task }) => [
    ...[`${'  '.repeat(depth - (subagents[0]?.depth ?? 1))}${handle}`, status, escapeLine(agent)],
    ...[background ? 'background' : 'waited for', escapeLine(model), formatAge(now() - Date.parse(startedAt))],
    escapeLine(task),
  ])
  await out.write(textTable(['HANDLE', 'STATUS', 'KIND', 'HOW', 'MODEL', 'AGE', 'TASK'], rows, out))
  for (const { handle, pendingApprovals } of subagents)
    for (const { tool } of pendingApprovals)
      await err.tell(
        `${handle} waits for approval of ${escapeLine(tool)}. To answer: holdfast attach ${shellWord(session)}`,
      )
}

/** Sorts each subagent below the one that started it. */
function inTreeOrder(subagents: readonly ChildView[]): readonly ChildView[] {
  const below = (parent: ChildView): readonly ChildView[] => [
    parent,
    ...subagents.filter((one) => one.parent === parent.id).flatMap(below),
  ]
  return subagents.filter((one) => !subagents.some(({ id }) => id === one.parent)).flatMap(below)
}
