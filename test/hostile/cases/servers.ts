import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSession } from '@holdfast/client'
import { ask, check } from '../ask.ts'
import type { CaseRun, HostileCase } from '../case.ts'
import { promptModel } from '../prompt-model.ts'
import { readCalls } from '../read-session.ts'
import { waitForRest } from '../wait-for-rest.ts'

const fixture = new URL('../../../packages/holdfast/src/tools/mcp/hostile-server.fixture.ts', import.meta.url).pathname

/** How servers behave, and the calls of their tools with the status that each must have. */
const servers = {
  large: { text: 'complete', parts: 'complete', notices: 'complete' },
  plain: { deep: 'error', flood: 'error', die: 'error' },
  calls: { babble: 'error', hang: 'error' },
  asking: { ask: 'error' },
  'slow-pattern': { hello: 'complete' },
  huge: {},
  endless: {},
  babbling: {},
} as const

/** Servers of the Model Context Protocol that send too much, nothing, or what is not of the protocol. */
const hostileServers: HostileCase = {
  name: 'hostile-servers',
  from: 'program',
  /** The library of the protocol takes a tenth of a second to load, with the first server. */
  async prepare(run) {
    const workdir = join(run.workdir, 'first')
    await configure({ ...run, workdir }, ['plain'])
    const first = [{ tool: 'mcp__plain__list_tools', args: {} }]
    await waitForRest(await promptModel({ ...run, workdir }, 'first-server', () => first, { approvals: 'none' }))
  },
  async run(run) {
    const violations = [...(await configure(run, Object.keys(servers)))]
    const names = Object.keys(servers)
    const listing = names.map((name) => ({ tool: `mcp__${name}__list_tools`, args: {} }))
    const handle = await promptModel(run, 'list-servers', () => listing, { approvals: 'none' })
    await waitForRest(handle)
    const wanted = Object.entries(servers).flatMap(([name, calls]) =>
      Object.entries(calls).map(([tool, status]) => ({ tool: `mcp__${name}__${tool}`, status })),
    )
    const rounds = run.isQuick ? 1 : 5
    for (let round = 0; round < rounds; round++) {
      run.model.script('call-servers', () => wanted.map(({ tool }) => ({ tool, args: {} })))
      await createSession(handle).sendPrompt('Run script call-servers.')
      await waitForRest(handle)
    }
    const calls = (await readCalls(handle)).slice(listing.length)
    if (calls.length !== rounds * wanted.length) violations.push(`there are ${calls.length} calls`)
    for (const [index, { tool, status, result }] of calls.entries()) {
      const expected = wanted[index % wanted.length]?.status
      if (status !== expected) violations.push(`${tool} is ${status}, not ${expected}: ${result?.text.slice(0, 200)}`)
    }
    const shown = await ask(run.server, `/sessions/${handle.id}`)
    return {
      did: `called ${calls.length} tools of ${names.length} servers`,
      violations: [...violations, ...check('GET session', shown, [200])],
    }
  },
}

/** Configures the servers in the workspace and trusts them. */
async function configure({ server, workdir }: CaseRun, names: readonly string[]): Promise<readonly string[]> {
  await mkdir(join(workdir, '.git'), { recursive: true })
  const mcpServers = Object.fromEntries(
    names.map((name) => {
      const timeout = name === 'calls' ? { timeout: 500 } : {} // one of its tools never answers
      return [name, { command: process.execPath, args: [fixture, name], ...timeout }]
    }),
  )
  await writeFile(join(workdir, '.mcp.json'), JSON.stringify({ mcpServers }))
  const offered = await ask(server, `/trust?workdir=${encodeURIComponent(workdir)}`)
  const { offers } = JSON.parse(offered.text) as { offers: { kind: string; name: string; hash: string }[] }
  const body = { workdir, offers: offers.map(({ kind, name, hash }) => ({ kind, name, hash })) }
  return check('trust of the servers', await ask(server, '/trust', { body }), [200])
}

export const serverCases: readonly HostileCase[] = [hostileServers]
