import { aTool } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { describingTool } from '../../ports/guidance.ts'
import type { ToolSchema } from '../../ports/provider.ts'
import type { Tool } from '../../ports/tool.ts'
import { schemasOfStep } from './step-schemas.ts'

const schemasIn = async (tools: readonly Tool[], contextTokens?: number): Promise<readonly ToolSchema[]> =>
  JSON.parse(await schemasOfStep(tools, '/work', contextTokens))

const never: Tool['run'] = () => Promise.reject(new Error('no call is made'))
const own = aTool('read_file', never)
const describing = aTool(describingTool, never)
/** A tool of a server whose schema has about 1,000 tokens. */
const ofServer = (name: string): Tool => {
  const tool = aTool(name, never)
  return {
    ...tool,
    server: 'many',
    listedBy: 'mcp__many__list_tools',
    schema: { ...tool.schema, description: 'x'.repeat(4000) },
  }
}
const many = Array.from({ length: 12 }, (_, index) => ofServer(`mcp__many__t${index}`))

describe('the tools of servers', () => {
  it('are described in full as long as they take less than a tenth of the context', async () => {
    const tools = [own, describing, ...many]
    expect(await schemasIn(tools, 200_000)).toEqual(tools.map(({ schema }) => schema))
  })

  it('are names only above that, and no other tool is', async () => {
    const schemas = await schemasIn([own, describing, ...many], 100_000)
    expect(schemas.slice(0, 2)).toEqual([own.schema, describing.schema])
    expect(schemas.map(({ name }) => name).slice(2)).toEqual(many.map(({ schema }) => schema.name))
    expect(new Set(schemas.slice(2).map(({ description }) => description))).toEqual(
      new Set([expect.stringContaining(describingTool)]),
    )
    expect(JSON.stringify(schemas.slice(2)).length).toBeLessThan(4000)
  })

  it('are described in full if the session does not offer the tool that describes them', async () => {
    const tools = [own, ...many]
    expect(await schemasIn(tools, 100_000)).toEqual(tools.map(({ schema }) => schema))
  })

  it('count for a usual context if that of the model is unknown', async () => {
    const full = await schemasIn([describing, ...many])
    expect(full.at(-1)).toEqual(many.at(-1)?.schema)
    const more = [describing, ...many, ...many.map(({ schema }) => ofServer(`${schema.name}b`))]
    expect((await schemasIn(more)).at(-1)?.description).toContain(describingTool)
  })

  it('that are of no use in a folder are left out', async () => {
    const useless: Tool = { ...own, schemaIn: async () => null }
    expect(await schemasIn([useless, describing])).toEqual([describing.schema])
  })
})
