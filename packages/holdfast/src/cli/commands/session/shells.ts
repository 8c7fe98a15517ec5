import { orThrow } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { withNamedSession } from '../../connect/connect.ts'
import { formatAge } from '../../render/tables.ts'
import { textTable } from '../../render/text-table.ts'
import { exitCodes } from '../../terminal/exit.ts'
import type { sessionSpecs } from './specs.ts'

const runningTime = (startedAt: string, endedAt: string | undefined): string =>
  endedAt === undefined ? '' : `${Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000)} s`

/** Lists the commands in the background of a session, also those that have ended, or stops one of them. */
export const run: RunCommand<typeof sessionSpecs.shells> = async (
  { positionals: [name = ''], flags: { stop, json } },
  context,
) => {
  const { out, err, now } = context
  return withNamedSession(context, name, async (handle) => {
    const shells = orThrow(await handle.backgroundShells())
    if (stop !== undefined) {
      const answer = orThrow(await handle.submit({ type: 'stopBackgroundShell', shell: stop }))
      const command = shells.find(({ id }) => id === stop)?.command ?? ''
      if (json) await out.writeJson(answer)
      else await err.write(`Stopped ${escapeLine(stop)}: ${escapeLine(command)}\n`)
      return exitCodes.ok
    }
    const rows = shells.map(({ id, command, startedAt, outputBytes, ended }) => [
      ...[id, ended === undefined ? 'running' : ended.how, formatAge(now() - Date.parse(startedAt))],
      ...[runningTime(startedAt, ended?.at), String(outputBytes), escapeLine(command)],
    ])
    if (json) await out.writeJson({ shells })
    else if (rows.length > 0) await out.write(textTable(['ID', 'STATE', 'AGE', 'TOOK', 'BYTES', 'COMMAND'], rows, out))
    else await err.tell('No command was started in the background since the session was loaded.')
    return exitCodes.ok
  })
}
