import { createSession } from '@holdfast/client'
import { type LineRange, type ListedBoundary, linesText } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { withNamedSession } from '../../connect/connect.ts'
import { textTable } from '../../render/text-table.ts'
import { parseLines } from '../../sessions/line-range.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { exitCodes, rejectUsage } from '../../terminal/exit.ts'
import { boundaryExample, type sessionSpecs } from './specs.ts'

/** Lists, sets or clears the edit boundaries of a session. People count lines from 1. */
export const run: RunCommand<typeof sessionSpecs.boundary> = async (
  { positionals: [name = '', path, lines], flags: { clear, json } },
  context,
) => {
  if (path !== undefined && actionWords.includes(path)) rejectUsage(noActions(path))
  if (clear && lines !== undefined) rejectUsage('--clear takes no <lines>: it removes the boundary.')
  const range = lines === undefined ? null : rangeOf(lines)
  return withNamedSession(context, name, async (handle) => {
    const session = createSession(handle)
    if (clear) await (path === undefined ? session.clearAllBoundaries() : session.clearBoundary(path))
    else if (range && path !== undefined) await session.setBoundary(path, range.start, range.end)
    const asked = path === undefined || clear ? null : await session.boundaryFor(path)
    const one = asked && path !== undefined ? [{ path, ...asked }] : []
    await print(path === undefined || clear ? await session.boundaries() : one, { path, json }, context)
    return exitCodes.ok
  })
}

/** Words that people try first, because other commands have such actions. A file of that name is `./set`. */
const actionWords = ['set', 'add', 'clear', 'remove', 'list', 'show']

const noActions = (word: string): string =>
  ['list', 'show'].includes(word)
    ? `boundary has no action '${word}'. To list them: holdfast boundary <session>`
    : ['clear', 'remove'].includes(word)
      ? `boundary has no action '${word}'. To clear one: holdfast boundary <session> <file> --clear`
      : `boundary has no action '${word}'. To set one: ${boundaryExample}`

const rangeOf = (text: string): LineRange =>
  parseLines(text) ?? rejectUsage(`<lines> must be lines counted from 1, such as 3-9, not '${text}'.`)

type Printed = { readonly path: string | undefined; readonly json: boolean }

async function print(boundaries: readonly ListedBoundary[], { path, json }: Printed, { out, err }: CliContext) {
  if (json) return out.writeJson({ boundaries })
  const rows = boundaries.map((one) => [one.suspended ? 'nothing' : linesText(one), escapeLine(one.path)])
  const why = boundaries.flatMap(({ suspended }) => (suspended ? [`${escapeLine(suspended)}\n`] : []))
  if (rows.length > 0) return out.write(`${textTable(['TOOLS MAY CHANGE', 'FILE'], rows, out)}${why.join('')}`)
  await err.tell(
    path === undefined
      ? 'This session has no edit boundaries.'
      : `Tools may change every line of ${escapeLine(path)}: it has no edit boundary.`,
  )
}
