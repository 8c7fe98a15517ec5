import { escapeLine } from '@holdfast/protocol'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'

const context = 3
/** Beyond this many changed lines the shortest diff is no longer looked for: a reader gains nothing, the wait is long. */
const changedLinesMax = 1000

export type Change = {
  readonly path: string
  /** Null when there is no such file yet. */
  readonly before: string | null
  readonly after: string
}

/** What would change, as people read it. Computed in slices, so that the event loop stays free. */
export async function unifiedDiff({ path, before, after }: Change): Promise<string> {
  const shown = escapeLine(path) // a line feed in a name must not forge a line of the diff
  const from = before === null ? '/dev/null' : `a/${shown}`
  const patch = await patchOf(from, `b/${shown}`, before ?? '', after)
  if (patch !== undefined) return patch
  // Too different to match line by line: the old text out, the new text in.
  const [removed, added] = await Promise.all([
    patchOf(from, `b/${shown}`, before ?? '', ''),
    patchOf(from, `b/${shown}`, '', after),
  ])
  return `${removed ?? ''}${withoutHeader(added ?? '')}`
}

function patchOf(from: string, to: string, before: string, after: string): Promise<string | undefined> {
  const one = before === '' || after === '' // all lines out or all in: one step, however many lines
  const maxEditLength = one ? Number.MAX_SAFE_INTEGER : changedLinesMax
  return new Promise((resolve) => {
    createTwoFilesPatch(from, to, before, after, undefined, undefined, {
      headerOptions: FILE_HEADERS_ONLY,
      context,
      maxEditLength,
      callback: resolve,
    })
  })
}

const withoutHeader = (patch: string) => patch.split('\n').slice(2).join('\n')
