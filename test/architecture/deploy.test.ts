import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseArgs } from '../../packages/holdfast/src/cli/args/parse-args.ts'
import { programSpecs } from '../../packages/holdfast/src/cli/commands/program/specs.ts'
import { createServerAddress } from '../../packages/holdfast/src/server/auth/server-address.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const port = '4820'

/** Parses the words after `holdfast` as the program does; it refuses flags that it does not know. */
function expectServe(words: readonly string[]): void {
  expect(words[0]).toBe('serve')
  expect(parseArgs('serve', programSpecs.serve, words.slice(1))).toHaveProperty('flags')
}

describe('the unit of systemd', () => {
  const known: Readonly<Record<string, readonly string[]>> = {
    Unit: ['Description', 'Documentation', 'After'],
    Service: [
      ...[
        'Type',
        'EnvironmentFile',
        'ExecStart',
        'WorkingDirectory',
        'Restart',
        'RestartSec',
        'KillSignal',
        'KillMode',
      ],
      ...['TimeoutStopSec', 'UMask', 'NoNewPrivileges', 'LimitNOFILE'],
    ],
    Install: ['WantedBy'],
  }
  const lines = read('deploy/holdfast.service')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

  it('has only settings that systemd knows, each in its section', () => {
    let section = ''
    for (const line of lines) {
      const heading = /^\[(\w+)\]$/.exec(line)?.[1]
      const [, name = ''] = /^(\w+)=\S/.exec(line) ?? []
      if (heading !== undefined) section = heading
      else expect([section, name, known[section]?.includes(name)]).toEqual([section, name, true])
    }
  })

  it('lets a node end its turns before it is killed', () => {
    const stop = Number(/TimeoutStopSec=(\d+)/.exec(lines.join('\n'))?.[1])
    const [, drain] = /default: (\d+)/.exec(programSpecs.serve.flags.drain.about) ?? []
    expect(stop).toBeGreaterThan(Number(drain))
  })

  it('starts the server of a clone with flags that it has', () => {
    const start = lines.find((line) => line.startsWith('ExecStart='))?.slice('ExecStart='.length) ?? ''
    const [node = '', program = '', ...words] = start.split(' ')
    expect(node).toBe('%h/holdfast/node_modules/.bin/node')
    expect(read(program.replace('%h/holdfast/', ''))).toMatch(/^#!/)
    expectServe(words)
  })
})

describe('the container file', () => {
  const file = read('deploy/Containerfile')
  const listOf = (instruction: string): readonly string[] =>
    JSON.parse(new RegExp(`^${instruction} (\\[.*\\])$`, 'm').exec(file)?.[1] ?? '[]') as readonly string[]

  it('is valid', () => {
    expect(validate(file).map(({ message }) => message)).toEqual([])
  })

  it('runs the server without rights, with flags that it has, on the port that it exposes', () => {
    const [node, program = ''] = listOf('ENTRYPOINT')
    expect([node, read(program.replace('/opt/holdfast/', ''))]).toEqual(['node', expect.stringMatching(/^#!/)])
    expectServe(listOf('CMD'))
    expect(file).toContain(`\nEXPOSE ${port}\n`)
    expect(file.indexOf('\nUSER node\n')).toBeGreaterThan(file.lastIndexOf('\nRUN '))
  })

  it('copies neither history nor installed packages, nor files with secrets', () => {
    const left = ['.git', '**/node_modules', '**/.env', '**/*.env']
    expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(left))
    expect(read('.gitignore').split('\n')).toEqual(expect.arrayContaining(['.env', '*.env']))
  })
})

describe('the compose file', () => {
  const file = parse(read('deploy/compose.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, { readonly command?: readonly string[] }>>
  }

  it('starts nodes with flags that they have, each under its own URL, and balances all of them', () => {
    const nodes = Object.entries(file.services).filter(([, { command }]) => command !== undefined)
    expect(nodes).toHaveLength(3)
    const balancer = read('deploy/cluster.Caddyfile')
    for (const [name, { command = [] }] of nodes) {
      expectServe(command)
      expect(command).toContain(`http://${name}:4821`)
      expect(balancer).toContain(`${name}:${port}`)
      expect(command).toContain('--public-url')
    }
  })

  it('keeps a client at one node, and checks the health of a node under a name that it accepts', async () => {
    const balancer = read('deploy/cluster.Caddyfile')
    expect(balancer).toMatch(/lb_policy (client_ip_hash|ip_hash|cookie)/)
    const [, host = ''] = /health_headers \{\s+Host (\S+)/.exec(balancer) ?? []
    const address = createServerAddress('0.0.0.0', Number(port))
    expect(address.checkRequest({ rawHeaders: ['Host', host], url: '/v1/ready' })).toBeNull()
    expect(address.checkRequest({ rawHeaders: ['Host', `node-1:${port}`], url: '/v1/ready' })).not.toBeNull()
  })
})

describe.each(['deploy/Caddyfile', 'deploy/nginx.conf'])('%s', (path) => {
  const lines = read(path)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))

  it('has closed blocks, and a directive in each line', () => {
    let depth = 0
    for (const line of lines) {
      if (line.endsWith('{')) depth += 1
      else if (line === '}') depth -= 1
      else if (path.endsWith('.conf')) expect(line).toMatch(/^[a-z_]+ .*;$/)
      expect(depth).toBeGreaterThanOrEqual(0)
    }
    expect(depth).toBe(0)
  })

  it('passes everything on to the port of the server, and holds nothing back', () => {
    expect(lines.join('\n')).toContain(`127.0.0.1:${port}`)
    expect(lines.join('\n')).toMatch(/flush_interval -1|proxy_buffering off/)
  })
})
