import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSession } from '@holdfast/client'
import type { Dice } from '@holdfast/testkit'
import { type ServerProcess, startServerProcess } from '../e2e/server-process.ts'
import { ask } from './ask.ts'
import { type BystanderReport, startBystander } from './bystander.ts'
import type { HostileCase } from './case.ts'
import { type HostileModel, startHostileModel } from './hostile-model.ts'
import { type HostileSite, startHostileSite } from './hostile-site.ts'
import { waitForRest } from './wait-for-rest.ts'
import type { HealthReport } from './watch-health.ts'

type Measured = {
  /** The longest time that the event loop did not turn: on the wall clock, without waits for a CPU, and on the CPU. */
  readonly stallMs: number
  readonly blockedMs: number
  readonly cpuMs: number
  readonly peakBytes: number
}

type CaseReport = Measured & {
  readonly did: string
  readonly health: HealthReport
  readonly violations: readonly string[]
}

/** What a server may take, in ms. */
type TimeLimits = {
  /** Without waits for a CPU, and on the CPU. */
  readonly stallMsMax: number
  readonly healthMsP99Max: number
}

const peakBytesMax = 1024 ** 3
/** Fewer answers have no 99th percentile. */
const healthAskedMin = 100
/** Each prompt of the bystander is a turn, so many of them would take more of the CPU than most small inputs. */
const pauseMs = { quick: 100, whole: 20 }
const probe = new URL('./probe.mjs', import.meta.url).href

/** A real server with a probe in it, and a hostile model. Cases run on it one after the other. */
export interface Rig {
  /** Runs a case while a bystander works on the same server. */
  run(hostile: HostileCase, options: RunOptions): Promise<CaseReport>
  /** Kills the server, starts it again, and returns every acknowledged prompt that it no longer has. */
  restart(): Promise<readonly string[]>
  close(): Promise<void>
}

type RunOptions = TimeLimits & { readonly isQuick: boolean; readonly dice: Dice }

export async function openRig(): Promise<Rig> {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-hostile-'))
  const [home, quiet] = [join(root, 'home'), join(root, 'quiet')]
  await mkdir(quiet)
  const model = await startHostileModel()
  const site = await startHostileSite()
  await mkdir(join(home, 'config'), { recursive: true, mode: 0o700 })
  await writeFile(join(home, 'config', 'config.json'), JSON.stringify({ fetchHosts: [site.host] }))
  const start = () => startServerProcess({ home, env: model.environment, preload: probe })
  let server = await start()
  await loadLibraries(server, { model, site }, quiet)
  let reports: readonly BystanderReport[] = []

  return {
    async run(hostile, { isQuick, dice, ...times }) {
      const workdir = join(root, hostile.name, 'work')
      await mkdir(workdir, { recursive: true })
      const bystander = await startBystander(server, quiet, isQuick ? pauseMs.quick : pauseMs.whole)
      const given = { isQuick, dice, server, model, site, bystander, home, workdir }
      await hostile.prepare?.(given)
      await measure(server) // what the server loads once, and what cases before have taken, does not count
      const result = await hostile
        .run(given)
        .catch((cause: unknown) => ({ did: 'failed', violations: [describe(cause)] }))
      const measured = await measure(server)
      const report = await bystander.stop()
      reports = [...reports, report]
      await rm(join(root, hostile.name), { recursive: true, force: true })
      const failures = report.failures.filter(({ code }) => code === null || !hostile.refusals?.includes(code))
      const violations = [
        ...result.violations,
        ...failures.map(({ message }) => `the bystander got an error: ${message}`),
        ...(report.prompts === 0 ? ['the bystander got no prompt acknowledged'] : []),
        ...report.health.failures,
        ...tooSlow(measured, report.health, times),
        ...(measured.peakBytes > peakBytesMax ? [`used ${megabytes(measured.peakBytes)}`] : []),
      ]
      return { ...measured, did: result.did, health: report.health, violations }
    },
    async restart() {
      await server.kill()
      server = await start()
      const missing: string[] = []
      for (const report of reports) missing.push(...(await report.missing(server)))
      return missing.map((text) => `lost: ${text}`)
    },
    async close() {
      await server.kill()
      model.close()
      site.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** Runs a case against its own server, and checks afterwards that nothing acknowledged was lost. */
export async function runCase(hostile: HostileCase, options: RunOptions): Promise<CaseReport> {
  const rig = await openRig()
  try {
    const report = await rig.run(hostile, options)
    return { ...report, violations: [...report.violations, ...(await rig.restart())] }
  } finally {
    await rig.close()
  }
}

function tooSlow({ blockedMs, cpuMs }: Measured, health: HealthReport, times: TimeLimits): readonly string[] {
  const { stallMsMax, healthMsP99Max } = times
  const isSlow = health.asked >= healthAskedMin && health.msP99 > healthMsP99Max
  return [
    ...(cpuMs > stallMsMax ? [`stalled for ${cpuMs.toFixed(0)} ms on the CPU`] : []),
    ...(blockedMs > stallMsMax ? [`stalled for ${blockedMs.toFixed(0)} ms without waits for a CPU`] : []),
    ...(isSlow ? [`health took ${health.msP99.toFixed(0)} ms at the 99th percentile`] : []),
  ]
}

type Others = { readonly model: HostileModel; readonly site: HostileSite }

/** Lets the model read a page and answer, and exports its answer: the first time loads the libraries. */
async function loadLibraries(server: ServerProcess, { model, site }: Others, workdir: string): Promise<void> {
  const started = await server.sessions.start({ workdir, model: model.model })
  if (!started.ok) throw new Error(started.fault.message)
  model.script('load', () => [{ tool: 'fetch_url', args: { url: `http://${site.host}/short` } }])
  await createSession(started.value).sendPrompt('Run script load.')
  await waitForRest(started.value)
  await ask(server, `/sessions/${started.value.id}/export?format=html`)
}

/** Asks the probe for what it measured since the last time. */
async function measure(server: ServerProcess): Promise<Measured> {
  const answer = once(server.process, 'message')
  server.process.send('report')
  const [measured] = await answer
  return measured
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MB`

/** `fetch` names the reason of a failed connection only in its cause. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause, stack = error.message } = error
  return cause === undefined
    ? stack
    : `${stack}\n  because of ${cause instanceof AggregateError ? cause.errors : cause}`
}
