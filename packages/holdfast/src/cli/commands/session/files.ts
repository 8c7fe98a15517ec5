import { createSession } from '@holdfast/client'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { formatAge, textTable } from '../../render/tables.ts'
import { withNamedSession } from '../../sessions/connect.ts'
import { exitCodes } from '../../terminal/exit.ts'
import type { sessionSpecs } from './specs.ts'

/** Lists the files that a session changed, each with its newest change. */
export const run: RunCommand<typeof sessionSpecs.files> = async (
  { positionals: [name = ''], flags: { json } },
  context,
) => {
  const { out, err, now } = context
  return withNamedSession(context, name, async (handle) => {
    const files = await createSession(handle).touchedFiles()
    const rows = files.map(({ path, action, at }) => [action, formatAge(now() - Date.parse(at)), escapeLine(path)])
    if (json) await out.writeJson({ files })
    else if (rows.length > 0) await out.write(textTable(['CHANGE', 'AGE', 'FILE'], rows, out.paint))
    else await err.write('The session changed no file.\n')
    return exitCodes.ok
  })
}
