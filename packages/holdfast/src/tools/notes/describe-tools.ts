import { describingTool, type Tool } from '@holdfast/core/ports'
import { didYouMean, fault, ok, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { resolveWorkdir } from '../../system/files/resolve-path.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'

const namesMax = 50
const nameCharsMax = 200

/** Tells the model what it can do here. */
export const describeToolsTool = defineTool({
  name: describingTool,
  description:
    'Lists the tools of this session with their arguments, and says which of them ask a person first. With names, describes these tools in full.',
  input: z.strictObject({
    names: z.array(z.string().max(nameCharsMax)).min(1).max(namesMax).optional(),
  }),
  changes: 'nothing',

  async preview(args, { workdir }) {
    const folder = await resolveWorkdir(workdir)
    return folder.ok ? ok({ preview: { type: 'arguments', args } }) : folder
  },

  run: whenBegun(async ({ names }: { readonly names?: readonly string[] | undefined }, { workdir }, { session }) => {
    const folder = await resolveWorkdir(workdir)
    if (!folder.ok) return folder
    const tools = (await session?.offered()) ?? []
    if (names !== undefined) return describeNamed(workdir, tools, names)
    const described = await Promise.all(tools.map((tool) => describeIn(workdir, tool)))
    return ok({ text: described.filter((text) => text !== null).join('\n\n') })
  }),
})

/** Describes tools with the schemas of their arguments. Refused: not_found, with the nearest name. */
async function describeNamed(workdir: string, tools: readonly Tool[], names: readonly string[]) {
  const described: string[] = []
  for (const name of new Set(names)) {
    const tool = tools.find(({ schema }) => schema.name === name)
    const text = tool ? await describeIn(workdir, tool) : null
    const known = tools.map(({ schema }) => schema.name)
    if (!tool || text === null) return refuse(fault('not_found', `There is no tool ${name}.${didYouMean(name, known)}`))
    described.push(`${text}\nArguments as JSON Schema: ${JSON.stringify(tool.schema.input)}`)
  }
  return ok({ text: described.join('\n\n') })
}

/** Returns a tool in words; null if it is of no use in this folder. */
async function describeIn(workdir: string, { schema: usual, schemaIn, isDestructive, isReadOnly }: Tool) {
  const schema = schemaIn ? await schemaIn(workdir) : usual
  if (schema === null) return null
  const { properties = {}, required = [] } = schema.input as {
    readonly properties?: { readonly [name: string]: unknown }
    readonly required?: readonly string[]
  }
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`))
  const effect = isDestructive ? 'changes something, asks first' : isReadOnly ? 'changes nothing' : 'effect unknown'
  return `${schema.name}(${names.join(', ')}): ${effect}\n${schema.description}`
}
