import { aTool } from '@holdfast/testkit'
import type { Tool } from '../ports/tool.ts'

/** A tool that only looks, begins as one that changes something does, and counts how often it ran. */
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
