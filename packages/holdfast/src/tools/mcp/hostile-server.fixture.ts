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
/** To check the content of the call below against this takes longer than anybody lives. */
const slowSchema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
let listed = 0
let asked = 0

/** Prints what is no message, without end. */
function babble(): void {
  while (process.stdout.write(`{${'\u0000garbage\n'.repeat(1000)}`));
  process.stdout.once('drain', babble)
}

/** Sends requests, and reads no answer. */
function askWithoutEnd(): void {
  while (write({ id: `ping-${++asked}`, method: 'ping' }));
  process.stdout.once('drain', askWithoutEnd)
}

const results: { readonly [method: string]: (params: Params) => object | null } = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    serverInfo: { name: 'test', version: '1' },
    instructions: 'Be kind.',
    capabilities: { tools: { listChanged: true } },
  }),
  ping: () => ({}),
  'tools/list': () => {
    listed += 1
    if (behaviour === 'endless') return { tools: [tool(`tool-${listed}`)], nextCursor: `page-${listed}` }
    if (behaviour === 'huge')
      return {
        tools: Array.from({ length: 300 }, (_, index) => tool(`tool-${listed}-${index}`, 'x'.repeat(7000))),
        nextCursor: `page-${listed}`,
      }
    if (behaviour === 'twice') return { tools: [tool('hello', 'the first'), tool('hello', 'the second')] }
    if (behaviour === 'unlisted') return null
    if (behaviour === 'asking') return { tools: [tool('ask')] }
    if (behaviour === 'calls') return { tools: [tool('babble'), tool('hang'), tool('die'), tool('flood')] }
    if (behaviour === 'large') return { tools: [tool('text'), tool('parts'), tool('notices')] }
    if (behaviour === 'slow-pattern') return { tools: [{ ...tool('hello'), outputSchema: slowSchema }] }
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
      case 'babble':
        babble()
        return null
      case 'change':
        write({ method: 'notifications/tools/list_changed' })
        return { content: [{ type: 'text', text: 'changed' }] }
      case 'deep':
        process.stdout.write(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}\n`)
        return null
      case 'text':
        return { content: [{ type: 'text', text: '\u001b[31m'.repeat(400_000) }] }
      case 'parts':
        return { content: Array.from({ length: 10_000 }, (_, index) => ({ type: 'text', text: `part ${index}` })) }
      case 'notices':
        for (let each = 0; each < 5000; each++)
          write({ method: each % 100 === 0 ? 'notifications/tools/list_changed' : 'notifications/message', params: {} })
        return { content: [{ type: 'text', text: 'noticed' }] }
      case 'where':
        return {
          content: [{ type: 'text', text: JSON.stringify({ cwd: process.cwd(), args: process.argv.slice(2) }) }],
        }
      case 'ask':
        process.stdin.pause()
        askWithoutEnd()
        return null
      case 'child': {
        const left = spawn('sleep', ['1000'], { stdio: 'ignore' })
        return { content: [{ type: 'text', text: String(left.pid) }] }
      }
      default:
        return {
          content: [{ type: 'text', text: 'hello' }],
          ...(behaviour === 'slow-pattern' && { structuredContent: { a: `${'a'.repeat(40)}!` } }),
        }
    }
  },
}
type Params = { readonly name?: string; readonly protocolVersion?: string }

if (behaviour === 'babbling') babble()
else if (behaviour === 'mute') setInterval(() => undefined, 1000)
else if (behaviour === 'broken') {
  process.stderr.write('no configuration\n')
  process.exit(1)
} else
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (behaviour === 'chatty') process.stdout.write('Welcome to the server!\n')
    const { id, method, params } = JSON.parse(line)
    const result = results[method]?.(params ?? {})
    if (id !== undefined && result) write({ id, result })
    else if (behaviour === 'unlisted' && method === 'tools/list')
      write({ id, error: { code: -32603, message: `no list ${'x'.repeat(5000)}` } })
  })
