import type { ToolContext, ToolRun } from '@holdfast/core/ports'
import { describe, expect, it } from 'vitest'
import { defineTool } from './define-tool.ts'

const input = { type: 'object', properties: {} } as const
const context = { workdir: '/work' } as ToolContext // an own tool reads nothing else of it
const call = {
  begin: async () => ({ ok: true, value: undefined }),
  signal: new AbortController().signal,
  show: () => undefined,
  storeOutput: () => Promise.reject(new Error('the output is short')),
} as unknown as ToolRun // an own tool uses nothing else of it

describe('a tool that returns the wrong files', () => {
  it('fails with one sentence', async () => {
    const files = [{ path: 7 }] as never // a program may not be type-checked
    const tool = defineTool({ name: 'note', description: 'Notes.', input, run: () => ({ text: 'noted', files }) })
    const result = await tool.run({}, context, call)
    expect(result).toMatchObject({
      type: 'failed',
      output: { text: expect.stringMatching(/^The tool note failed: it returned wrong files: 0\.path: .*\.$/) },
    })
  })
})

describe('a tool with a wrong preview', () => {
  it.each([{}, { type: 'picture' }, { type: 'diff' }, 'a text'])(
    'is unusable, with one sentence: %j',
    async (shown) => {
      const preview = () => shown as never // a program may not be type-checked
      const tool = defineTool({ name: 'note', description: 'Notes.', input, preview, run: () => 'noted' })
      const message = expect.stringMatching(/^The preview of the tool note is wrong: [^\n]+\.$/)
      expect(await tool.prepare({}, context, call.signal)).toEqual({ type: 'unusable', message })
    },
  )

  it('or one that throws says why', async () => {
    const preview = () => {
      throw new Error('no such note.')
    }
    const tool = defineTool({ name: 'note', description: 'Notes.', input, preview, run: () => 'noted' })
    const message = 'The tool note refuses these arguments: no such note.'
    expect(await tool.prepare({}, context, call.signal)).toEqual({ type: 'unusable', message })
  })
})
