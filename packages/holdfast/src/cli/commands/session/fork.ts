import type { RunCommand } from '../../args/command-specs.ts'
import { submitAndPrint } from '../../sessions/submit-command.ts'

export const run: RunCommand<'fork'> = ({ positionals: [name = ''], flags: { at, json } }, context) => {
  const describe = (session: string) => `Started ${session}, which shares the past of ${name}.`
  const command = { type: 'fork', ...(at !== undefined && { at }) } as const
  return submitAndPrint(name, command, { field: 'session', describe }, json, context)
}
