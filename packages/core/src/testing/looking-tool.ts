import { aTool } from '@holdfast/testkit'
import type { Tool } from '../ports/tool.ts'

/** Creates a read-only tool that calls `begin` and counts its runs. */
export function createLookingTool(): { readonly look: Tool; readonly runs: () => number } {
  let runs = 0
  const look = aTool(
    'look',
    async (_, __, { begin }) => {
      await begin()
      runs++
      return { type: 'ok', output: { text: 'a.txt' } }
    },
    false,
  )
  return { look, runs: () => runs }
}
