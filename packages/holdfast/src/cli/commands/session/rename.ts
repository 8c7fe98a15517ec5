import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-specs.ts'
import { submitAndPrint } from '../../sessions/submit-command.ts'

export const run: RunCommand<'rename'> = ({ positionals: [name = '', title = ''], flags }, context) => {
  const shown = escapeLine(title.trim())
  const describe = () =>
    shown === '' ? 'The title is the first line of the first prompt again.' : `The title is ${shown}.`
  return submitAndPrint(name, { type: 'rename', title }, { describe }, flags.json, context)
}
