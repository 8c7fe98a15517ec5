import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createScriptedModel, say } from '@holdfast/testkit'
import { openHoldfast } from '../../packages/holdfast/src/open.ts'
import type { Measurement } from '../measurement.ts'
import { median } from '../median.ts'
import { number } from '../table.ts'

const fixture = fileURLToPath(
  new URL('../../packages/holdfast/src/tools/mcp/hostile-server.fixture.ts', import.meta.url),
)
const servers = 10
const turns = 20

/** Measures what ten configured MCP servers cost that no call uses, beside none. */
export const measureIdleServers: Measurement = async ({ dir, rounds }) => {
  const [without, withServers] = [await prepareHome(dir, 0), await prepareHome(dir, servers)]
  await runTurns(withServers.home, 1) // asks each server once what it offers, which is then known
  const startedBefore = (await withServers.started()).length
  const ms = { without: [] as number[], with: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    ms.without.push(await runTurns(without.home, turns))
    ms.with.push(await runTurns(withServers.home, turns))
  }
  const started = (await withServers.started()).length - startedBefore
  const [none, ten] = [median(ms.without), median(ms.with)]
  const figures = { withMs: ten, withoutMs: none, started }
  const rows = [
    {
      what: 'a turn with ten MCP servers that are known and not used',
      figure: `${number(ten, 2)} ms (${number(none, 2)} ms without) = ${number(ten / none, 2)} ×, ${started} processes started`,
      goal: '≤ 1.15 ×, none',
      holds: ten / none <= 1.15 && started === 0,
    },
  ]
  return { figures, rows }
}

async function prepareHome(dir: string, count: number) {
  const home = await mkdtemp(join(dir, 'idle-servers-'))
  const log = join(home, 'started')
  await mkdir(join(home, 'config'), { recursive: true })
  await writeFile(log, '')
  const one = { command: process.execPath, args: [fixture, 'plain', log] }
  const mcpServers = Object.fromEntries(Array.from({ length: count }, (_, index) => [`server${index}`, one]))
  await writeFile(join(home, 'config', 'mcp.json'), JSON.stringify({ mcpServers }))
  return { home, started: async () => (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '') }
}

/** Returns the median time of a turn with a short answer. */
async function runTurns(home: string, count: number): Promise<number> {
  const model = createScriptedModel(Array.from({ length: count }, () => [say('Done.')]))
  const environment = { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off', PATH: process.env['PATH'] }
  await using holdfast = await openHoldfast({ environment, models: { 'own/model': model } })
  const session = await holdfast.startSession({ workdir: home, model: 'own/model' })
  const times: number[] = []
  for (let turn = 0; turn < count; turn++) {
    const startedMs = performance.now()
    await session.prompt('go').text()
    times.push(performance.now() - startedMs)
  }
  return median(times)
}
