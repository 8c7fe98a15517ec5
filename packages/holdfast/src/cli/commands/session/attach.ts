import type { RunCommand } from '../../args/command-spec.ts'
import { attachTerminal } from '../../attach/attach-terminal.ts'
import { withNamedSession } from '../../connect/connect.ts'
import type { sessionSpecs } from './specs.ts'

/** Follows a session live until the user leaves or it stops. */
export const run: RunCommand<typeof sessionSpecs.attach> = ({ positionals: [name = ''], flags }, context) =>
  withNamedSession(context, name, (handle, reached) =>
    attachTerminal(handle, reached, { isView: flags.view, isJson: flags.json, context }),
  )
