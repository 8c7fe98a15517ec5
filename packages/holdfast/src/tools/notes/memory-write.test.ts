import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createMemory } from '../../context/memory/memory.ts'
import { createMemoryWrite } from './memory-write.ts'

async function openTool() {
  const { workdir, beside } = await openWorkdir()
  const userFile = join(beside, 'config', 'MEMORY.md')
  const tool = createMemoryWrite(createMemory({ userFile, now: () => Date.parse('2026-03-04T12:00:00Z') }))
  return { tool, context: { workdir }, userFile, workspaceFile: join(workdir, '.holdfast', 'MEMORY.md') }
}

describe('memory_write', () => {
  it('adds a line to the memory of the workspace by default', async () => {
    const { tool, context, workspaceFile } = await openTool()
    expect(await tool.run({ text: 'use\ntabs' }, context, createToolRun().run)).toEqual({
      type: 'ok',
      output: { text: 'added to .holdfast/MEMORY.md: - [2026-03-04 12:00 UTC] use tabs' },
      files: [{ path: '.holdfast/MEMORY.md', change: 'created' }],
    })
    expect(await readFile(workspaceFile, 'utf8')).toBe('- [2026-03-04 12:00 UTC] use tabs\n')
  })

  it("adds a line to the user's memory, which is not a workspace file", async () => {
    const { tool, context, userFile } = await openTool()
    const result = await tool.run({ text: 'be brief', scope: 'user' }, context, createToolRun().run)
    expect(result).toMatchObject({ type: 'ok' })
    expect(result.files).toBeUndefined()
    expect(await readFile(userFile, 'utf8')).toBe('- [2026-03-04 12:00 UTC] be brief\n')
  })

  it('previews the file and the line with hidden characters escaped', async () => {
    const { tool, context, userFile } = await openTool()
    expect(await tool.prepare({ text: 'use\ntabs\u202e' }, context, notAborted)).toEqual({
      type: 'ready',
      args: { text: 'use\ntabs\u202e', scope: 'workspace' },
      preview: {
        type: 'diff',
        path: '.holdfast/MEMORY.md',
        diff: '--- /dev/null\n+++ b/.holdfast/MEMORY.md\n@@ -0,0 +1,1 @@\n+- [time of writing] use tabs\\u{202e}\n',
      },
    })
    await tool.run({ text: 'one', scope: 'user' }, context, createToolRun().run)
    expect(await tool.prepare({ text: 'two', scope: 'user' }, context, notAborted)).toMatchObject({
      preview: {
        path: userFile,
        diff: expect.stringContaining('\n - [2026-03-04 12:00 UTC] one\n+- [time of writing] two\n'),
      },
    })
  })

  it.each([
    [{ text: ' \n' }, 'text must not be empty'],
    [{ text: 'x'.repeat(2001) }, 'text must not be longer than 2000 characters'],
    [{ text: 'x', scope: 'world' }, 'scope must be user or workspace'],
  ])('refuses %j with a message', async (args, words) => {
    const { tool, context } = await openTool()
    expect(await tool.prepare(args, context, notAborted)).toEqual({
      type: 'unusable',
      message: expect.stringContaining(words),
    })
  })
})
