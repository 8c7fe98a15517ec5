import type { Tool } from '@holdfast/core/ports'
import { ok } from '@holdfast/protocol'
import { z } from 'zod'
import { resolveWorkdir } from '../../system/files/resolve-path.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'

/** Tells the model what it can do here. */
export const describeToolsTool = defineTool({
  name: 'describe_tools',
  description: 'Lists the tools of this session with their arguments, and says which of them ask a person first.',
  input: z.strictObject({}),
  changes: 'nothing',

  async preview(args, { workdir }) {
    const folder = await resolveWorkdir(workdir)
    return folder.ok ? ok({ preview: { type: 'arguments', args } }) : folder
  },

  run: whenBegun(async (_: object, { workdir }, { session }) => {
    const folder = await resolveWorkdir(workdir)
    if (!folder.ok) return folder
    const tools = (await session?.offered()) ?? []
    const described = await Promise.all(tools.map((tool) => describeIn(workdir, tool)))
    return ok({ text: described.filter((text) => text !== null).join('\n\n') })
  }),
})

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
