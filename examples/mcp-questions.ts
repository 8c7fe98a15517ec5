// Uses an MCP server that asks the person a question while its tool runs.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHoldfast } from 'holdfast'

const home = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
await mkdir(join(home, 'config'))
const program = join(import.meta.dirname, '../node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const mcpServers = { every: { command: process.execPath, args: [program] } }
await writeFile(join(home, 'config/mcp.json'), JSON.stringify({ mcpServers }))
const environment = { HOLDFAST_HOME: home, PATH: process.env['PATH'], DEMO_PACE: '0' }
await using holdfast = await openHoldfast({ store: 'memory:', environment })
const session = await holdfast.startSession({ workdir: home, model: 'demo/agent' })

for await (const item of session.prompt('call mcp__every__trigger-elicitation-request')) {
  if (item.type === 'tool_result') console.log(item.call.result?.text)
  if (item.type !== 'approval') continue
  const { id, preview } = item.approval
  if (preview.type === 'question')
    await session.respondToApproval('approve', id, undefined, { answers: { name: 'Ada' } })
  else await session.respondToApproval('approve', id)
}
for (const { name, state, tools } of await session.listServers()) console.log(name, state, tools)
