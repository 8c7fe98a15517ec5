import { join } from 'node:path'
import { openHoldfast } from '../../packages/holdfast/src/entry/index.ts'
import { median } from '../median.ts'

export type StartFigures = {
  readonly fewMs: number
  readonly manyMs: number
  /** The first page of the list after a start with many sessions. */
  readonly firstPageMs: number
}

const pageSessions = 50

/** Times `openHoldfast` with few and with many sessions, alternating, and the first page of the many. */
export async function benchStart(dir: string, few: string, many: string, rounds: number): Promise<StartFigures> {
  const samples = { few: [] as number[], many: [] as number[], page: [] as number[] }
  for (let round = -1; round < rounds; round++) {
    const small = await openOnce(dir, few)
    const large = await openOnce(dir, many)
    if (large.listed !== pageSessions) throw new Error(`a page of ${large.listed}`)
    if (round < 0) continue // the first round is a warm-up
    samples.few.push(small.openMs)
    samples.many.push(large.openMs)
    samples.page.push(large.pageMs)
  }
  return { fewMs: median(samples.few), manyMs: median(samples.many), firstPageMs: median(samples.page) }
}

async function openOnce(dir: string, path: string) {
  const start = performance.now()
  const holdfast = await openHoldfast({ store: `sqlite:${path}`, environment: { HOLDFAST_HOME: join(dir, 'home') } })
  const opened = performance.now()
  const { sessions } = await holdfast.list({ limit: pageSessions })
  const pageMs = performance.now() - opened
  await holdfast.close()
  return { openMs: opened - start, pageMs, listed: sessions.length }
}
