import { createSession } from '@holdfast/client'
import { noChangesText } from '@holdfast/client/internal'
import type { TouchedFile } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { withNamedSession } from '../../connect/connect.ts'
import { formatAge } from '../../render/tables.ts'
import { textTable } from '../../render/text-table.ts'
import { exitCodes } from '../../terminal/exit.ts'
import type { sessionSpecs } from './specs.ts'

const nameOf = ({ path, from, during, child }: TouchedFile): string =>
  [
    ...(from === undefined ? [] : [escapeLine(from), '→']),
    escapeLine(path),
    ...(during ? ['(while a command ran in the background)'] : []),
    ...(child === undefined ? [] : ['(by a subagent)']),
  ].join(' ')

/** Lists the files that a session changed, each with its newest change. */
export const run: RunCommand<typeof sessionSpecs.files> = async (
  { positionals: [name = ''], flags: { json } },
  context,
) => {
  const { out, err, now } = context
  return withNamedSession(context, name, async (handle) => {
    const files = await createSession(handle).touchedFiles()
    const rows = files.map((file) => [file.action, formatAge(now() - Date.parse(file.at)), nameOf(file)])
    if (json) await out.writeJson({ files })
    else if (rows.length > 0) await out.write(textTable(['CHANGE', 'AGE', 'FILE'], rows, out))
    else await err.write(`${await noChangesText(handle, 'The session changed no file.')}\n`)
    return exitCodes.ok
  })
}
