import { noChangesText } from '@holdfast/client/internal'
import { type FileDiff, type FileDiffs, orThrow } from '@holdfast/protocol'
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
    else if (diff.files.length === 0) await context.err.tell(await noChangesText(handle, 'No file is different.'))
    else await withPager(context, (out) => printDiff(diff, { out, err: context.err }))
    return exitCodes.ok
  })
}

async function printDiff({ files }: FileDiffs, { out, err }: Pick<CliContext, 'out' | 'err'>): Promise<void> {
  for (const file of files) {
    const { path, diff, note } = file
    const text = diffText(`${gitHeads(file)}${diff}`, out.paint, { keepsLineEnds: !out.isTerminal })
    if (diff !== '') await out.write(`${text}\n`)
    if (note !== undefined) await err.tell(`${escapeLine(path)}: ${escapeLine(note)}`)
  }
}

/** The lines before the names of a diff that git itself writes too. */
const extendedHeads = /^(?:(?:rename|old mode|new mode) .*\n)*(?=--- |$)/

/**
 * Returns the first lines of a diff as `git apply` needs them: with them it knows where each file begins, and which was moved.
 * Empty for a link and for content that is not shown.
 */
function gitHeads({ path, from = path, change, diff }: FileDiff): string {
  if (!extendedHeads.test(diff)) return ''
  const mode =
    change === 'created' ? 'new file mode 100644\n' : change === 'deleted' ? 'deleted file mode 100644\n' : ''
  return `diff --git a/${escapeLine(from)} b/${escapeLine(path)}\n${mode}`
}
