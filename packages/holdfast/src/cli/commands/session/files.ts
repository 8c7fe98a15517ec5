import { createSession } from '@holdfast/client'
import { cutFilesText, noChangesText } from '@holdfast/client/internal'
import type { RunCommand } from '../../args/command-spec.ts'
import { withNamedSession } from '../../connect/connect.ts'
import { fileTable } from '../../render/tables.ts'
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
    if (json) await out.writeJson({ files, ...(files.isCut && { isCut: true }) })
    else if (files.length > 0) await out.write(fileTable(files, now(), out))
    else await err.tell(await noChangesText(handle, 'The session changed no file.'))
    if (files.isCut && !json) await err.tell(cutFilesText)
    return exitCodes.ok
  })
}
