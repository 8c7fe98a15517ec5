import { orThrow } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { readInputSchema } from '../input-schema.ts'
import { nameTools } from '../tool-names.ts'
import { expandConnect, readServerFile } from './server-config.ts'

const read = (mcpServers: unknown) => orThrow(readServerFile(JSON.stringify({ mcpServers }), '/srv/.mcp.json', 'user'))

describe('a file of servers', () => {
  it('has programs and URLs, with or without a type', () => {
    const { servers, problems } = read({
      files: { command: 'npx', args: ['-y', 'files'], env: { A: 'b' } },
      web: { type: 'http', url: 'https://mcp.example', headers: { authorization: 'x' }, timeout: 5 },
      plain: { url: 'https://mcp.example', disabled: true },
    })
    expect(problems).toEqual([])
    expect(servers).toMatchObject([
      {
        name: 'files',
        connect: { type: 'stdio', command: 'npx', args: ['-y', 'files'], env: { A: 'b' } },
        isOff: false,
      },
      { name: 'web', connect: { type: 'http', headers: { authorization: 'x' } }, timeoutMs: 5 },
      { name: 'plain', connect: { type: 'http', url: 'https://mcp.example' }, isOff: true },
    ])
  })

  it('names what cannot be used, and the rest counts', () => {
    const { servers, problems } = read({
      old: { type: 'sse', url: 'https://mcp.example' },
      none: {},
      wrong: { command: 7 },
      ['a'.repeat(65)]: { command: 'x' },
      'two\nlines': { command: 'x' },
      good: { command: 'x', trust: true, autoApprove: ['*'] },
    })
    expect(servers.map(({ name }) => name)).toEqual(['good'])
    expect(problems).toHaveLength(6)
    expect(problems.join('\n')).toMatch(
      /"sse" is not supported.*neither a command nor a url.*trust, autoApprove has no/s,
    )
  })

  it.each(['{', '[]', '{"servers":{}}', '{"mcpServers":[]}'])('that is not of this form is refused: %s', (text) => {
    expect(readServerFile(text, '/srv/.mcp.json', 'user')).toMatchObject({ ok: false, fault: { code: 'bad_config' } })
  })

  it('may name variables of the environment, which must exist', () => {
    const variable = (name: string) => `\${${name}}`
    const [server] = read({
      a: { command: variable('BIN:-run'), args: [`${variable('HOME')}/x`, '$HOME'], env: { KEY: variable('KEY') } },
    }).servers
    if (!server) throw new Error('no server')
    expect(orThrow(expandConnect(server, { HOME: '/home/mia', KEY: 'k' }))).toMatchObject({
      command: 'run',
      args: ['/home/mia/x', '$HOME'],
      env: { KEY: 'k' },
    })
    expect(expandConnect(server, { HOME: '/home/mia' })).toMatchObject({
      fault: { code: 'bad_config', details: { missing: ['KEY'] } },
    })
  })
})

describe('the name of a tool', () => {
  const nameOf = (server: string, tool: string) => nameTools([{ server, tool }])[0]
  it('has the server and the tool, in letters that every provider takes', () => {
    expect(nameOf('files', 'read')).toBe('mcp__files__read')
    expect(nameOf('my files', 'läs.fil')).toBe('mcp__my_files__l_s_fil')
    expect(nameOf('a', 'constructor')).toBe('mcp__a__constructor')
  })

  it('is cut at 64 characters and made unique by a hash', () => {
    const long = nameTools(['x', 'y'].map((end) => ({ server: 's', tool: `${'long'.repeat(20)}${end}` })))
    expect(long.map((name) => name.length)).toEqual([64, 64])
    expect(new Set(long).size).toBe(2)
    const same = nameTools([
      { server: 'a', tool: 'x y' },
      { server: 'a', tool: 'x_y' },
    ])
    expect(new Set(same).size).toBe(2)
    for (const name of same) expect(name).toMatch(/^mcp__a__x_y_[0-9a-f]{8}$/)
  })
})

describe('the input schema of a tool', () => {
  it('is one of an object, without what providers refuse', () => {
    expect(orThrow(readInputSchema({ $schema: 'x', required: ['a', 'gone'], properties: { a: {} } }))).toEqual({
      type: 'object',
      properties: { a: {} },
      required: ['a'],
    })
    const either = {
      anyOf: [
        { properties: { a: {}, b: {} }, required: ['a', 'b'] },
        { properties: { a: {} }, required: ['a'] },
      ],
    }
    expect(orThrow(readInputSchema({ type: 'object', ...either }))).toEqual({
      type: 'object',
      properties: { a: {}, b: {} },
      required: ['a'],
    })
    expect(orThrow(readInputSchema({ allOf: [{ properties: { a: {} }, required: ['a'] }] }))).toMatchObject({
      required: ['a'],
    })
  })

  const deep = (levels: number): unknown => (levels === 0 ? {} : { properties: { a: deep(levels - 1) } })
  it.each([
    ['a list', []],
    ['a string', { type: 'string' }],
    ['another document', { properties: { a: { $ref: 'https://schema.example/a.json' } } }],
    ['too many levels', deep(40)],
    ['too much text', { description: 'x'.repeat(70_000) }],
  ])('is refused if it is %s', (_, schema) => {
    expect(readInputSchema(schema)).toMatchObject({ ok: false })
  })
})
