/*
 * A server of the Model Context Protocol for tests, over stdin and stdout. Its first argument says how it behaves. It speaks the
 * protocol by hand, because the server library would not send what a hostile one sends.
 */
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [behaviour = 'plain', log] = process.argv.slice(2)
if (log) appendFileSync(log, `${process.pid}\n`)
const write = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const tool = (name: string, description = name) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: {} },
})
let listed = 0

const results: { readonly [method: string]: (params: Params) => object | null } = {
  initialize: ({ protocolVersion }) => ({
    ...{ protocolVersion, serverInfo: { name: 'test', version: '1' }, instructions: 'Be kind.' },
    capabilities: { tools: { listChanged: true } },
  }),
  ping: () => ({}),
  'tools/list': () => {
    listed += 1
    if (behaviour === 'vanishing' && listed === 2) return { tools: [tool('change')] }
    const said = behaviour === 'changing' || behaviour === 'vanishing' ? `as told ${listed} times` : 'says hello'
    return {
      tools: [
        tool('hello', said),
        tool('die'),
        tool('hang'),
        tool('flood'),
        tool('change'),
        tool('child'),
        tool('deep'),
        tool('where'),
      ],
    }
  },
  'tools/call': ({ name }) => {
    switch (name) {
      case 'die':
        process.stderr.write('out of luck\n')
        process.exit(3)
        return null
      case 'hang':
        if (log) appendFileSync(log, 'hanging\n')
        return null
      case 'flood':
        process.stdout.write('x'.repeat(20_000_000))
        return null
      case 'change':
        write({ method: 'notifications/tools/list_changed' })
        return { content: [{ type: 'text', text: 'changed' }] }
      case 'deep':
        process.stdout.write(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}\n`)
        return null
      case 'where':
        return {
          content: [{ type: 'text', text: JSON.stringify({ cwd: process.cwd(), args: process.argv.slice(2) }) }],
        }
      case 'child': {
        const left = spawn('sleep', ['1000'], { stdio: 'ignore' })
        return { content: [{ type: 'text', text: String(left.pid) }] }
      }
      default:
        return { content: [{ type: 'text', text: 'hello' }] }
    }
  },
}
type Params = { readonly name?: string; readonly protocolVersion?: string }

if (behaviour === 'mute') setInterval(() => undefined, 1000)
else if (behaviour === 'broken') {
  process.stderr.write('no configuration\n')
  process.exit(1)
} else
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (behaviour === 'chatty') process.stdout.write('Welcome to the server!\n')
    const { id, method, params } = JSON.parse(line)
    const result = results[method]?.(params ?? {})
    if (id !== undefined && result) write({ id, result })
  })
