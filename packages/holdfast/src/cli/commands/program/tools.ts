import { loadSession } from '@holdfast/core'
import { type Boundary, linesText } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import { type ListedTool, listTools, type ToolList } from '../../../list-tools.ts'
import type { RunCommand } from '../../args/command-spec.ts'
import { textTable } from '../../render/tables.ts'
import { withStoredSession } from '../../sessions/stored-session.ts'
import { resolveWorkspace } from '../../sessions/workspace.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

/** Reads the store only for a session, and loads none. */
export const run: RunCommand<typeof programSpecs.tools> = async ({ positionals: [name], flags }, context) => {
  const { environment, home } = context
  const print = async (list: SessionTools): Promise<undefined> => {
    if (flags.json) await context.out.writeJson(list)
    else await printTools(list, context)
  }
  if (name === undefined) {
    const workdir = orThrow(resolveWorkspace(context, flags.workspace))
    return print(orThrow(await listTools({ environment, home, workdir })))
  }
  if (flags.workspace !== undefined) return rejectUsage('A session has its own folder: leave --workspace out.')
  return withStoredSession(context, name, {}, async ({ id, log, meta }) => {
    const { state } = orThrow(await loadSession(log, id))
    const boundaries = state.boundaries.map(({ path, start, end }) => ({ path, start, end }))
    await print({
      ...orThrow(await listTools({ environment, home, workdir: meta.workspace, session: state })),
      boundaries,
    })
  })
}

async function printTools(
  { workdir, sandbox, tools, instructions, boundaries = [] }: SessionTools,
  { out }: CliContext,
): Promise<void> {
  await out.write(textTable(['TOOL', 'CHANGES', 'CALLS', 'RULES'], tools.map(cells), out.paint))
  const network = sandbox.isInForce ? ` ${sandbox.network ? withNetwork : withoutNetwork}` : ''
  await out.write(`\n${escapeLine(sandbox.about)}${network}\nFolder: ${escapeLine(workdir) || 'none yet'}\n`)
  if (instructions.length > 0)
    await out.write('Instructions that the model is told; of two that differ, the later one counts:\n')
  for (const { path, importedBy, isCut } of instructions) {
    const from = importedBy === undefined ? '' : `, imported by ${escapeLine(importedBy)}`
    await out.write(`  ${escapeLine(path)}${from}${isCut ? ', cut' : ''}\n`)
  }
  for (const one of boundaries)
    await out.write(`In ${escapeLine(one.path)}, tools may change only ${linesText(one)}.\n`)
}

/** The tools of a session, with its edit boundaries. */
type SessionTools = ToolList & { readonly boundaries?: readonly Boundary[] | undefined }

const withNetwork = 'They have the network.'
const withoutNetwork = 'They have the network only by a rule or if you approve it.'

const cells = ({ name, isReadOnly, verdict, rules }: ListedTool): readonly string[] => [
  ...[escapeLine(name), isReadOnly ? 'nothing' : 'something', verdicts[verdict]],
  rules.map((rule) => escapeLine(rule)).join(', '),
]

const verdicts = { allow: 'run', ask: 'ask first', deny: 'are refused' } as const
