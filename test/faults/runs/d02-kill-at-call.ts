import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fill } from '../fill.ts'
import { verify } from '../pass-criterion.ts'
import { readWitnesses } from '../read-witnesses.ts'
import type { Row, RowRun } from '../row.ts'
import { oneThread, traced } from '../strace.ts'
import type { SubjectLocation } from '../subject/subject.ts'
import { changes, type Sweep } from '../sweeps.ts'
import { sessionOf } from '../workload.ts'
import { startWriter } from '../writer-process.ts'

const logs = 2
const appends = 4
const appendsBefore = 3
const quickMax = 2

/** Kills the writer at the n-th call that changes the disk, for n = 1, 2, … until a run completes. */
export const killAtEachCall: Row = {
  name: 'D2',
  fault: 'SIGKILL at each call that changes the disk',
  needs: ['strace'],
  async run({ isQuick, home }: RowRun) {
    const violations: string[] = []
    const counts: string[] = []
    for (const [number, sweep] of changes.entries()) {
      let n = 1
      while (!(isQuick && n > quickMax) && (await killAt(sweep, n, join(home, `${number}-${n}`), violations))) n += 1
      counts.push(`${sweep.kind} ${sweep.call}${sweep.isTorn ? ' in recovery' : ''} ${n - 1}`)
    }
    return { did: `killed at ${counts.join(', ')}`, violations }
  },
}

/** Returns whether there was an n-th call. */
async function killAt(
  { kind, call, paths, isTorn = false }: Sweep,
  n: number,
  directory: string,
  violations: string[],
): Promise<boolean> {
  const location: SubjectLocation = { kind, directory }
  const kept = isTorn ? await leaveTorn(location) : 0
  const injection = { calls: [call], does: 'signal=KILL', when: String(n) } as const
  const before = traced({ injection, paths: paths?.(directory) })
  const writer = startWriter({ location, logs, appends }, { before, env: oneThread })
  const { isDone, stderr } = await writer.ended()
  // If the store had data before, the check must be the first to recover it.
  const reported = kept > 0 ? writer.witnesses() : await readWitnesses(writer, location)
  const witnesses = [1, 2].map((log) => {
    const { submitted, acknowledged } = reported.find((one) => one.log === log) ?? { submitted: kept, acknowledged: 0 }
    return { log, submitted, acknowledged: Math.max(acknowledged, kept) }
  })
  const verdict = await verify({ location, witnesses, reports: writer.reports() })
  for (const violation of verdict.violations) violations.push(`${call} ${n}: ${violation}`)
  if (stderr !== '') violations.push(`${kind} ${call} ${n}: ${stderr.slice(0, 500)}`)
  rmSync(directory, { recursive: true, force: true })
  return !isDone
}

/** Writes two logs with a torn last line, like a crash. Returns their heads. */
async function leaveTorn(location: SubjectLocation): Promise<number> {
  const [head = 0] = (await fill(location, 1, appendsBefore)).slice(-1)
  await fill(location, 2, appendsBefore)
  for (const log of [1, 2]) appendFileSync(join(location.directory, `${sessionOf(log)}.jsonl`), '{"seq":99,"at":"2026-')
  return head
}
