import { didYouMean, type Fault, fault } from '@holdfast/protocol'
import type { Tools } from '../../ports/tool.ts'

/** Returns a fault if one of the names is that of no tool. The tools of a server are known only once it has been asked. */
export function refuseUnknownTool({ all }: Pick<Tools, 'all'>, names: readonly string[]): Fault | null {
  const known = all.map(({ schema }) => schema.name)
  const unknown = names.find((name) => !known.includes(name) && !name.startsWith('mcp__'))
  if (unknown === undefined) return null
  return fault('bad_request', `There is no tool ${unknown}.${didYouMean(unknown, known)}`, { tool: unknown, known })
}
