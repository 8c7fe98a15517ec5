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
const turns = 60
/** The first turns start threads and read files; they are not measured. */
const warmUp = 5

/**
 * Measures what ten configured MCP servers cost that no call uses, beside none: servers that were never asked what they offer, and
 * known ones with 80 tools. Turns with and without them alternate, so that all meet the same conditions.
 */
export const measureIdleServers: Measurement = async ({ dir, rounds }) => {
  const homes = [await prepareHome(dir, 0), await prepareHome(dir, servers), await prepareHome(dir, servers)] as const
  const [, , known] = homes
  await askAll(known.home)
  const before = await countStarts(homes)
  const ms: readonly number[][] = homes.map(() => [])
  for (let round = 0; round < rounds; round++) await runTurns(homes, ms)
  const started = (await countStarts(homes)) - before
  const [withoutMs = 0, unaskedMs = 0, knownMs = 0] = ms.map(median)
  const row = (what: string, tookMs: number) => ({
    what: `a turn with ten MCP servers that are ${what} and not used`,
    figure: `${number(tookMs, 2)} ms (${number(withoutMs, 2)} ms without) = ${number(tookMs / withoutMs, 2)} ×, ${started} processes started`,
    goal: '≤ 1.1 ×, none',
    holds: tookMs / withoutMs <= 1.1 && started === 0,
  })
  return {
    figures: { withoutMs, unaskedMs, knownMs, started },
    rows: [row('never asked', unaskedMs), row('known', knownMs)],
  }
}

type Prepared = { readonly home: string; readonly started: () => Promise<readonly string[]> }

const countStarts = async (homes: readonly Prepared[]): Promise<number> =>
  (await Promise.all(homes.map(({ started }) => started()))).flat().length

async function prepareHome(dir: string, count: number): Promise<Prepared> {
  const home = await mkdtemp(join(dir, 'idle-servers-'))
  const log = join(home, 'started')
  await mkdir(join(home, 'config'), { recursive: true })
  await writeFile(log, '')
  const one = { command: process.execPath, args: [fixture, 'plain', log] }
  const mcpServers = Object.fromEntries(Array.from({ length: count }, (_, index) => [`server${index}`, one]))
  await writeFile(join(home, 'config', 'mcp.json'), JSON.stringify({ mcpServers }))
  return { home, started: async () => (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '') }
}

async function openAt(home: string) {
  const model = createScriptedModel(() => [say('Done.')])
  const environment = { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off', PATH: process.env['PATH'] }
  const holdfast = await openHoldfast({ environment, models: { 'own/model': model } })
  return { holdfast, session: await holdfast.startSession({ workdir: home, model: 'own/model' }) }
}

/** Asks each server what it offers, which is then known. */
async function askAll(home: string): Promise<void> {
  const { holdfast, session } = await openAt(home)
  for (let index = 0; index < servers; index++) await session.retryServer(`server${index}`)
  await holdfast.close()
}

/** Runs turns with a short answer in each home in turn, and adds their times. */
async function runTurns(homes: readonly Prepared[], ms: readonly number[][]): Promise<void> {
  const opened = await Promise.all(homes.map(({ home }) => openAt(home)))
  for (let turn = -warmUp; turn < turns; turn++)
    for (const [index, { session }] of opened.entries()) {
      const startedMs = performance.now()
      await session.prompt('go').text()
      if (turn >= 0) ms[index]?.push(performance.now() - startedMs)
    }
  await Promise.all(opened.map(({ holdfast }) => holdfast.close()))
}
