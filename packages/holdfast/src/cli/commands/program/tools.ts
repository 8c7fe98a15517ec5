import { loadSession } from '@holdfast/core'
import { type ListedTool, linesText, type ToolList } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import { listTools } from '../../../open/list-tools.ts'
import type { RunCommand } from '../../args/command-spec.ts'
import { resolveWorkspace } from '../../connect/workspace.ts'
import { textTable } from '../../render/text-table.ts'
import { withStoredSession } from '../../sessions/stored-session.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

/** Without `--url`, reads the store only for a session and for rules in a database, and loads no session. */
export const run: RunCommand<typeof programSpecs.tools> = async ({ positionals: [name], flags }, context) => {
  const print = async (list: ToolList): Promise<undefined> => {
    if (flags.json) await context.out.writeJson(list)
    else await printTools(list, context)
  }
  const { environment, home, server } = context
  if (name !== undefined && flags.workspace !== undefined)
    return rejectUsage('A session has its own folder: leave --workspace out.')
  const workdir = orThrow(resolveWorkspace(context, flags.workspace))
  if (server) {
    const { connectGiven } = await import('../../connect/connect-given.ts')
    const { openRemote } = await import('../../sessions/remote.ts')
    const of = name === undefined ? { workdir } : { session: (await openRemote(context, server, name)).id }
    return print(await connectGiven(server).tools(of))
  }
  const { withPermissionRows } = await import('../../../open/permission-rules.ts')
  const list = (of: Pick<Parameters<typeof listTools>[0], 'workdir' | 'session'>) =>
    withPermissionRows(context, async (rows) => print(orThrow(await listTools({ environment, home, rows, ...of }))))
  if (name === undefined) return list({ workdir })
  return withStoredSession(context, name, {}, async ({ id, log, meta }) => {
    const { state } = orThrow(await loadSession(log, id))
    await list({ workdir: meta.workspace, session: state })
  })
}

async function printTools(
  { workdir, sandbox, tools, instructions, boundaries = [] }: ToolList,
  { out }: CliContext,
): Promise<void> {
  await out.write(textTable(['TOOL', 'CHANGES', 'CALLS', 'RULES'], tools.map(cells), out))
  const network = sandbox.isInForce ? ` ${sandbox.network ? withNetwork : withoutNetwork}` : ''
  await out.tell(`\n${escapeLine(sandbox.about)}${network}\nFolder: ${escapeLine(workdir) || 'none yet'}`)
  if (instructions.length > 0)
    await out.tell('Instructions that the model is told; of two that differ, the later one counts:')
  for (const { path, importedBy, isCut } of instructions) {
    const from = importedBy === undefined ? '' : `, imported by ${escapeLine(importedBy)}`
    await out.write(`  ${escapeLine(path)}${from}${isCut ? ', cut' : ''}\n`)
  }
  for (const one of boundaries) await out.tell(`In ${escapeLine(one.path)}, tools may change only ${linesText(one)}.`)
}

const withNetwork = 'They have the network.'
const withoutNetwork = 'They have the network only by a rule or if you approve it.'

const cells = ({ name, isReadOnly, verdict, rules }: ListedTool): readonly string[] => [
  ...[escapeLine(name), isReadOnly ? 'nothing' : 'something', verdicts[verdict]],
  rules.map((rule) => escapeLine(rule)).join(', '),
]

const verdicts = { allow: 'run', ask: 'ask first', deny: 'are refused' } as const
