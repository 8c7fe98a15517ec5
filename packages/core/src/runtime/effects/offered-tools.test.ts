import { aTool, stateAfter } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Tool, Tools } from '../../ports/tool.ts'
import { findOffered, findTool } from './offered-tools.ts'

const never: Tool['run'] = () => Promise.reject(new Error('no call is made'))
const own = aTool('read_file', never)
const ofServer = (name: string): Tool => ({
  ...aTool(name, never),
  server: 'files',
  listedBy: 'mcp__files__list_tools',
})
const asked: (readonly string[])[] = []
const tools: Tools = {
  all: [own],
  find: (name) => (name === 'read_file' ? own : null),
  async ofFolder(_, needed = []) {
    asked.push(needed)
    return [ofServer('mcp__files__read'), ofServer('mcp__files__write')]
  },
  endLeftover: async () => undefined,
}
const namesFor = async (list: readonly string[] | null, needed?: readonly string[]) => {
  const { origin } = stateAfter()
  if (!origin) throw new Error('the session has started')
  const offered = await findOffered(tools, { ...origin, tools: list }, {}, needed)
  return offered.map(({ schema }) => schema.name)
}

describe('the tools of a session', () => {
  it('are all, or those of its list; a list that has the tool which lists a server has all of that server', async () => {
    expect(await namesFor(null)).toEqual(['read_file', 'mcp__files__read', 'mcp__files__write'])
    expect(await namesFor(['mcp__files__write'])).toEqual(['mcp__files__write'])
    expect(await namesFor(['read_file', 'mcp__files__list_tools'])).toEqual([
      ...['read_file', 'mcp__files__read', 'mcp__files__write'],
    ])
  })

  it('say which names they are needed for, so that servers are asked only then', async () => {
    asked.length = 0
    await namesFor(['read_file'], ['mcp__files'])
    const { origin } = stateAfter()
    if (origin) await findTool(tools, origin, {}, 'mcp__files__read')
    if (origin) await findTool(tools, origin, {}, 'read_file')
    expect(asked).toEqual([['read_file', 'mcp__files'], ['mcp__files__read']])
  })
})
