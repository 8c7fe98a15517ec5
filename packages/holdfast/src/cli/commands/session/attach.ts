import type { RunCommand } from '../../args/command-spec.ts'
import { attachTerminal } from '../../attach/attach-terminal.ts'
import { withNamedSession } from '../../connect/connect.ts'
import type { sessionSpecs } from './specs.ts'

/** Follows a session live until the user leaves or it stops. */
export const run: RunCommand<typeof sessionSpecs.attach> = ({ positionals: [name = ''], flags }, context) =>
  withNamedSession(context, name, async (handle, reached) => {
    const { server } = context
    const access = server && (await (await import('../../connect/connect-given.ts')).connectGiven(server).access())
    const mayOnlyWatch = access?.role === 'viewer'
    return attachTerminal(handle, reached, { isView: flags.view, isJson: flags.json, mayOnlyWatch, context })
  })
