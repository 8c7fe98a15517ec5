import type { RunCommand } from '../../args/command-specs.ts'
import { submitAndDescribe } from '../../sessions/submit-command.ts'

export const run: RunCommand<'pin'> = ({ positionals: [name = ''], flags: { off, json } }, context) => {
  const sentence = off ? 'Unpinned.' : 'Pinned: listed first, and protected from prune and rm --all.'
  return submitAndDescribe(name, { type: 'pinSession', pinned: !off }, sentence, json, context)
}
