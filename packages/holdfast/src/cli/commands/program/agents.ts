import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { RunCommand } from '../../args/command-spec.ts'
import { textTable } from '../../render/tables.ts'
import { resolveWorkspace } from '../../sessions/workspace.ts'
import type { programSpecs } from './specs.ts'

/** Lists the kinds of subagents for a folder, and below what is wrong with their files. */
export const run: RunCommand<typeof programSpecs.agents> = async ({ flags }, context) => {
  const { out, err, home } = context
  const { createAgents } = await import('../../../guidance/agents/agents.ts')
  const { openTrustedWorkspaces } = await import('../../../open-trusted-workspaces.ts')
  const { configDir, userDir } = home
  const workdir = orThrow(resolveWorkspace(context, flags.workspace))
  const agents = await createAgents({ configDir, userDir, trusted: openTrustedWorkspaces(home) }).list(workdir)
  if (flags.json) {
    await out.writeJson({ agents })
    return undefined
  }
  const rows = agents.map(({ name, state, scope, tools, model, description }) => [
    ...[escapeLine(name), state, scope, escapeLine(tools?.join(', ') ?? 'all'), escapeLine(model ?? 'inherited')],
    escapeLine(description),
  ])
  await out.write(textTable(['AGENT', 'STATE', 'OF', 'TOOLS', 'MODEL', 'FOR'], rows, out.paint))
  for (const { path, line, message } of agents.flatMap(({ problems }) => problems))
    await err.write(`${escapeLine(path)}${line === null ? '' : `:${line}`}: ${escapeLine(message)}\n`)
  return undefined
}
