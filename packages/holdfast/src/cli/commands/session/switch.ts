import type { RunCommand } from '../../args/command-specs.ts'
import { parseTurn } from '../../args/parse-args.ts'
import { submitAndPrint } from '../../sessions/submit-command.ts'

export const run: RunCommand<'switch'> = ({ positionals: [name = '', asked = ''], flags }, context) => {
  const branch = parseTurn(asked) ?? asked
  const describe = (name: string) => `Switched to ${name}. The line before is saved as a branch.`
  // The answer has no branch if the session is on it already.
  const unchanged = typeof branch === 'string' ? branch : ''
  const printed = { field: 'branch', describe, unchanged } as const
  return submitAndPrint(name, { type: 'switchBranch', branch }, printed, flags.json, context)
}
