import { ok } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { abortedResult, defineTool } from './define-tool.ts'

it('describes its arguments once, when somebody asks', () => {
  let times = 0
  const input = z.object({
    get path() {
      times += 1
      return z.string()
    },
  })
  const { schema } = defineTool({
    name: 'look',
    description: 'Looks.',
    input,
    changes: 'nothing',
    preview: async () => ok({ preview: { type: 'arguments', args: {} } }),
    run: async () => abortedResult,
  })
  expect(times).toBe(0)
  expect(schema.input).toMatchObject({ properties: { path: { type: 'string' } }, required: ['path'] })
  expect(schema.input).toBe(schema.input)
})
