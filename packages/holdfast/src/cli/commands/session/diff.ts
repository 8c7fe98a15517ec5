import { type FileDiffs, orThrow } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { withNamedSession } from '../../connect/connect.ts'
import { diffText } from '../../render/diff-text.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { exitCodes } from '../../terminal/exit.ts'
import { withPager } from '../../terminal/pager.ts'
import type { sessionSpecs } from './specs.ts'

/** Prints what a session changed in files, as one diff. */
export const run: RunCommand<typeof sessionSpecs.diff> = async (
  { positionals: [name = '', path], flags: { turn, json } },
  context,
) => {
  return withNamedSession(context, name, async (handle) => {
    const diff = orThrow(await handle.diffChanges({ ...(turn !== undefined && { turn }), ...(path && { path }) }))
    if (json) await context.out.writeJson(diff)
    else await withPager(context, (out) => printDiff(diff, { out, err: context.err }))
    return exitCodes.ok
  })
}

async function printDiff({ files }: FileDiffs, { out, err }: Pick<CliContext, 'out' | 'err'>): Promise<void> {
  for (const { path, diff, note } of files) {
    if (diff !== '') await out.write(`${diffText(diff, out.paint)}\n`)
    if (note !== undefined) await err.write(`${escapeLine(path)}: ${escapeLine(note)}\n`)
  }
  if (files.length === 0) await err.write('No file is different.\n')
}
