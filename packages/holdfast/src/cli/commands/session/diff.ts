import { orThrow } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { diffText } from '../../render/diff-text.ts'
import { withNamedSession } from '../../sessions/connect.ts'
import { exitCodes } from '../../terminal/exit.ts'
import type { sessionSpecs } from './specs.ts'

/** Prints what a session changed in files, as one diff. */
export const run: RunCommand<typeof sessionSpecs.diff> = async (
  { positionals: [name = '', path], flags: { turn, json } },
  context,
) => {
  const { out, err } = context
  return withNamedSession(context, name, async (handle) => {
    const diff = orThrow(await handle.diffChanges({ ...(turn !== undefined && { turn }), ...(path && { path }) }))
    if (json) await out.writeJson(diff)
    for (const file of json ? [] : diff.files) {
      if (file.diff !== '') await out.write(`${diffText(file.diff, out.paint)}\n`)
      if (file.note !== undefined) await err.write(`${escapeLine(file.path)}: ${escapeLine(file.note)}\n`)
    }
    if (!json && diff.files.length === 0) await err.write('No file is different.\n')
    return exitCodes.ok
  })
}
