import { limits, textTokens } from '@holdfast/protocol'
import { describingTool } from '../../ports/guidance.ts'
import type { ToolSchema } from '../../ports/provider.ts'
import type { Tool } from '../../ports/tool.ts'

/** How much of a model's context the tools of servers may take. */
const serverShare = 0.1

/**
 * Returns the schemas of the tools of a step, without those that are of no use in the folder. Servers with very many
 * tools would fill the context: of their tools the model then gets names only, and asks for what it needs.
 */
export async function schemasOfStep(
  tools: readonly Tool[],
  workdir: string,
  contextTokens: number = limits.contextTokens,
): Promise<readonly ToolSchema[]> {
  const found = await Promise.all(
    tools.map(async (tool) => ({ tool, schema: tool.schemaIn ? await tool.schemaIn(workdir) : tool.schema })),
  )
  const ofServers = found.filter(({ tool }) => tool.server !== undefined).map(({ schema }) => schema)
  const canDescribe = tools.some(({ schema }) => schema.name === describingTool)
  const isTooMuch = canDescribe && textTokens(JSON.stringify(ofServers)) > contextTokens * serverShare
  return found.flatMap(({ tool, schema }) => {
    if (schema === null) return []
    return isTooMuch && tool.server !== undefined ? nameOnly(schema) : schema
  })
}

const nameOnly = ({ name }: ToolSchema): ToolSchema => ({
  name,
  description: `Call ${describingTool} with this name first: it tells what the tool does and what arguments it takes.`,
  input: { type: 'object' },
})
