/*
 * The client that the conformance scenarios of the Model Context Protocol test: a session of Holdfast with one configured server,
 * whose address is the last argument. A scripted model calls the tool of the scenario; approvals, questions and sign-ins are
 * answered as a person would.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call, createScriptedModel, say } from '@holdfast/testkit'
import { openServers, signInTo } from '../../packages/holdfast/src/open/open-servers.ts'
import { openHoldfast } from '../../packages/holdfast/src/open.ts'
import { findHome } from '../../packages/holdfast/src/system/home.ts'

const url = process.argv.at(-1) ?? ''
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context: { readonly client_id?: string; readonly client_secret?: string } = JSON.parse(
  process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}',
)
/** A server may ask for more rights again and again: this often a person would sign in. */
const signInsMax = 3

const directory = mkdtempSync(join(tmpdir(), 'holdfast-conformance-'))
const environment = { HOLDFAST_HOME: directory, HOLDFAST_LOCAL_MODELS: 'off', PATH: process.env['PATH'] ?? '' }
const home = findHome(environment)
const oauth = {
  ...(context.client_id !== undefined && { clientId: context.client_id, clientSecret: context.client_secret }),
  ...(scenario === 'auth/basic-cimd' && {
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
  }),
}
mkdirSync(home.configDir, { recursive: true })
writeFileSync(join(home.configDir, 'mcp.json'), JSON.stringify({ mcpServers: { it: { url, oauth } } }))

/** Signs in as a person whose browser is on this machine. Returns whether that worked. */
async function signIn(): Promise<boolean> {
  const servers = openServers({ home, environment, onProblem: ({ cause }) => console.error(cause) })
  const server = await servers.find(directory, 'it')
  await servers.close()
  if (!server.ok) throw new Error(server.fault.message)
  const signedIn = await signInTo({
    home,
    server: server.value,
    async authorize(page, { wait }) {
      const waiting = wait(AbortSignal.timeout(10_000))
      const visited = await fetch(page, { redirect: 'manual' })
      const location = visited.headers.get('location')
      if (location === null) throw new Error(`the page answered ${visited.status}`)
      await fetch(location)
      return waiting
    },
  })
  if (!signedIn.ok) console.error(signedIn.fault.message)
  return signedIn.ok
}

/** Finds the tools of the server; null if a person must sign in first. */
async function findTools(): Promise<readonly string[] | null> {
  const servers = openServers({ home, environment, onProblem: ({ cause }) => console.error(cause) })
  try {
    const asked = await servers.test(directory, 'it', AbortSignal.timeout(20_000))
    if (asked.ok) return asked.value.tools ?? []
    console.error(asked.fault.message)
    return null
  } finally {
    await servers.close()
  }
}

/** Lets a session call a tool, and returns what the call returned. */
async function callTool(tool: string): Promise<{ readonly status: string; readonly text: string }> {
  const args = scenario === 'tools_call' ? { a: 5, b: 3 } : {}
  const model = createScriptedModel([[call(tool, args)], [say('Done.')]])
  const holdfast = await openHoldfast({ store: 'memory:', environment, models: { 'own/model': model } })
  try {
    const session = await holdfast.startSession({ workdir: directory, model: 'own/model' })
    let result = { status: 'missing', text: '' }
    for await (const item of session.prompt('go')) {
      // A question is accepted with its defaults.
      if (item.type === 'approval') await session.respondToApproval('approve', item.approval.id)
      if (item.type === 'tool_result') result = { status: item.call.status, text: item.call.result?.text ?? '' }
    }
    return result
  } finally {
    await holdfast.close()
  }
}

async function run(): Promise<boolean> {
  let tools = await findTools()
  let signIns = 0
  while (tools === null && signIns < signInsMax) {
    signIns += 1
    if (!(await signIn())) return false
    tools = await findTools()
  }
  const tool = tools?.[0]
  if (tools === null) return false
  if (tool === undefined || scenario === 'initialize') return true
  let result = await callTool(tool)
  while (result.text.includes('holdfast mcp login') && signIns < signInsMax) {
    signIns += 1
    if (!(await signIn())) return false
    result = await callTool(tool)
  }
  console.error(`${tool}: ${result.status}: ${result.text.slice(0, 500)}`)
  return result.status === 'complete'
}

try {
  process.exitCode = (await run()) ? 0 : 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
