import type { RunCommand } from '../../args/command-specs.ts'
import { parseTurn } from '../../args/parse-args.ts'
import { submitAndPrint } from '../../sessions/submit-command.ts'
import { rejectUsage } from '../../terminal/exit.ts'

export const run: RunCommand<'rewind'> = async ({ positionals: [name = '', text = ''], flags }, context) => {
  const turn = parseTurn(text)
  if (turn === null) return rejectUsage(`<turn> must be the number of a turn, from 0, not '${text}'.`)
  const describe = (branch: string) => `Undid everything after turn ${turn}. It is saved as ${branch}.`
  return submitAndPrint(name, { type: 'rewind', turn }, { field: 'branch', describe }, flags.json, context)
}
