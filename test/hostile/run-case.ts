import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSession } from '@holdfast/client'
import type { Dice } from '@holdfast/testkit'
import { type ServerProcess, startServerProcess } from '../e2e/server-process.ts'
import { ask } from './ask.ts'
import { startBystander } from './bystander.ts'
import type { HostileCase } from './case.ts'
import { type HostileModel, startHostileModel } from './hostile-model.ts'
import { waitForRest } from './wait-for-rest.ts'
import type { HealthReport } from './watch-health.ts'

export type Measured = {
  /** The longest time that the event loop did not turn: on the wall clock, without waits for a CPU, and on the CPU. */
  readonly stallMs: number
  readonly blockedMs: number
  readonly cpuMs: number
  readonly peakBytes: number
}

export type CaseReport = Measured & {
  readonly did: string
  readonly health: HealthReport
  readonly violations: readonly string[]
}

/** What a server may take, in ms. */
export type TimeLimits = {
  /** Without waits for a CPU, and on the CPU. */
  readonly stallMsMax: number
  readonly healthMsP99Max: number
}

export const peakBytesMax = 1024 ** 3
/** Fewer answers have no 99th percentile. */
const healthAskedMin = 100
const probe = new URL('./probe.mjs', import.meta.url).href

/**
 * Runs a case against its own server while a bystander works there. Then kills the server, starts it again, and checks
 * that it still has every acknowledged prompt.
 */
export async function runCase(
  hostile: HostileCase,
  { isQuick, dice, ...times }: TimeLimits & { readonly isQuick: boolean; readonly dice: Dice },
): Promise<CaseReport> {
  const root = await mkdtemp(join(tmpdir(), `holdfast-hostile-${hostile.name}-`))
  const [home, workdir, quiet] = [join(root, 'home'), join(root, 'work'), join(root, 'quiet')]
  for (const folder of [workdir, quiet]) await mkdir(folder)
  const model = await startHostileModel()
  const start = () => startServerProcess({ home, env: model.environment, preload: probe })
  let server = await start()
  try {
    await loadLibraries(server, model, quiet)
    const bystander = await startBystander(server, quiet)
    await measure(server) // what the server loads once does not count
    const result = await hostile
      .run({ isQuick, dice, server, model, bystander, home, workdir })
      .catch((cause: unknown) => ({ did: 'failed', violations: [describe(cause)] }))
    const measured = await measure(server)
    const report = await bystander.stop()
    await server.kill()
    server = await start()
    const missing = await report.missing(server)
    const failures = report.failures.filter(({ code }) => code === null || !hostile.refusals?.includes(code))
    const violations = [
      ...result.violations,
      ...failures.map(({ message }) => `the bystander got an error: ${message}`),
      ...missing.map((text) => `lost: ${text}`),
      ...(report.prompts === 0 ? ['the bystander got no prompt acknowledged'] : []),
      ...report.health.failures,
      ...tooSlow(measured, report.health, times),
      ...(measured.peakBytes > peakBytesMax ? [`used ${megabytes(measured.peakBytes)}`] : []),
    ]
    return { ...measured, did: result.did, health: report.health, violations }
  } finally {
    await server.kill()
    model.close()
    await rm(root, { recursive: true, force: true })
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

/** Lets the model answer once and exports its answer: the first time loads the libraries. */
async function loadLibraries(server: ServerProcess, { model }: HostileModel, workdir: string): Promise<void> {
  const started = await server.sessions.start({ workdir, model })
  if (!started.ok) throw new Error(started.fault.message)
  await createSession(started.value).sendPrompt('hello')
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
