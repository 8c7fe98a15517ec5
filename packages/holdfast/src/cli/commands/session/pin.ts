import type { RunCommand } from '../../args/command-specs.ts'
import { submitAndPrint } from '../../sessions/submit-command.ts'

export const run: RunCommand<'pin'> = ({ positionals: [name = ''], flags: { off, json } }, context) => {
  const describe = () => (off ? 'Unpinned.' : 'Pinned: listed first, and protected from prune and rm --all.')
  return submitAndPrint(name, { type: 'pinSession', pinned: !off }, { describe }, json, context)
}
