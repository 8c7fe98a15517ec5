import { limits, textTokens } from '@holdfast/protocol'
import { describingTool } from '../../ports/guidance.ts'
import type { ToolSchema } from '../../ports/provider.ts'
import type { Tool } from '../../ports/tool.ts'

/** How much of a model's context the tools of servers may take. */
const serverShare = 0.1

const texts = new WeakMap<ToolSchema, string>()

/** Returns the schema of a server's tool as JSON. These schemas never change, may be many, and each step needs all of them. */
function textOf(schema: ToolSchema): string {
  const text = texts.get(schema) ?? JSON.stringify(schema)
  texts.set(schema, text)
  return text
}

/**
 * Returns the schemas of the tools of a step as JSON, without those that are of no use in the folder. Servers with very many
 * tools would fill the context: of their tools the model then gets names only, and asks for what it needs.
 */
export async function schemasOfStep(
  tools: readonly Tool[],
  workdir: string,
  contextTokens: number = limits.contextTokens,
): Promise<string> {
  const found = await Promise.all(
    tools.map(async (tool) => ({ tool, schema: tool.schemaIn ? await tool.schemaIn(workdir) : tool.schema })),
  )
  const ofServers = found.filter(({ tool }) => tool.server !== undefined).flatMap(({ schema }) => schema ?? [])
  const canDescribe = tools.some(({ schema }) => schema.name === describingTool)
  const isTooMuch = canDescribe && textTokens(ofServers.map(textOf).join()) > contextTokens * serverShare
  const told = found.flatMap(({ tool, schema }) => {
    if (schema === null) return []
    if (tool.server === undefined) return JSON.stringify(schema)
    return isTooMuch && tool.listedBy !== undefined ? JSON.stringify(nameOnly(schema)) : textOf(schema)
  })
  return `[${told.join()}]`
}

const nameOnly = ({ name }: ToolSchema): ToolSchema => ({
  name,
  description: `Call ${describingTool} with this name first: it tells what the tool does and what arguments it takes.`,
  input: { type: 'object' },
})
