import { describe, expect, it } from 'vitest'
import { convertServers } from './convert-servers.ts'

const convert = (file: object, path = '/x/mcp.json') => {
  const converted = convertServers(JSON.stringify(file), path)
  return converted.ok ? converted.value : converted.fault.message
}
// Variables of other programs, which look like template strings.
const variable = (text: string) => `\${${text}}`

describe('the servers of other programs', () => {
  it('come from VS Code, with its variables and inputs', () => {
    const servers = {
      files: {
        type: 'stdio',
        command: 'npx',
        args: ['fs', variable('workspaceFolder')],
        envFile: '.env',
        env: { KEY: variable('input:api-key'), HOME_DIR: variable('userHome'), T: variable('env:TOKEN') },
      },
      web: { type: 'http', url: 'https://mcp.example', headers: { A: 'b' } },
    }
    expect(convert({ servers, inputs: [] })).toEqual({
      servers: {
        files: {
          command: 'npx',
          args: ['fs', variable('WORKSPACE')],
          env: { KEY: variable('API_KEY'), HOME_DIR: variable('HOME'), T: variable('TOKEN') },
        },
        web: { type: 'http', url: 'https://mcp.example', headers: { A: 'b' } },
      },
      problems: [
        'The server files: envFile was not taken over.',
        'The server files: it asks for input, which became a variable of the environment. Set that.',
      ],
    })
  })

  it('come from Gemini CLI, where a url alone means SSE', () => {
    const mcpServers = {
      web: { httpUrl: 'https://mcp.example', headers: { Authorization: 'Bearer $TOKEN' }, trust: true },
      old: { url: 'https://mcp.example/sse' },
      run: { command: 'node', args: ['a.js'], env: { KEY: '$KEY' } },
    }
    expect(convert({ mcpServers }, '/home/me/.gemini/settings.json')).toEqual({
      servers: {
        web: { type: 'http', url: 'https://mcp.example', headers: { Authorization: `Bearer ${variable('TOKEN')}` } },
        run: { command: 'node', args: ['a.js'], env: { KEY: variable('KEY') } },
      },
      problems: [
        'The server web: trust was not taken over.',
        'The server old: it uses SSE, which is not supported. Use its streamable HTTP URL.',
      ],
    })
  })

  it('come from opencode, with its list of words', () => {
    const mcp = {
      local: { type: 'local', command: ['npx', '-y', 'x'], environment: { A: '{env:B}' }, enabled: false },
      remote: { type: 'remote', url: 'https://mcp.example' },
    }
    expect(convert({ mcp })).toEqual({
      servers: {
        local: { command: 'npx', args: ['-y', 'x'], env: { A: variable('B') }, disabled: true },
        remote: { type: 'http', url: 'https://mcp.example' },
      },
      problems: [],
    })
  })

  it('come from Cursor and Claude Code, where a dollar sign is one', () => {
    const mcpServers = { a: { command: 'x', env: { P: 'pa$word', W: variable('workspaceFolder') } } }
    expect(convert({ mcpServers })).toEqual({
      servers: { a: { command: 'x', env: { P: 'pa$word', W: variable('WORKSPACE') } } },
      problems: [],
    })
  })

  it.each([[{}], [{ servers: [] }], [[]]])('are not in %j', (file) => {
    expect(convert(file)).toContain('has no servers')
  })
})
