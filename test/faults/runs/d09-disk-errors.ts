import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { system } from '../machine.ts'
import { type Report, verify } from '../pass-criterion.ts'
import { readWitnesses } from '../read-witnesses.ts'
import type { Row, RowResult, RowRun } from '../row.ts'
import { oneThread, traced, wasHit } from '../strace.ts'
import type { SubjectKind, SubjectLocation } from '../subject/subject.ts'
import { type Sweep, syncs, writes } from '../sweeps.ts'
import { verifyInProcess } from '../verify-process.ts'
import { startWriter } from '../writer-process.ts'

const logs = 2
const appends = 4
const quickMax = 2
const triesWhenLasting = 3

type Error = 'ENOSPC' | 'EIO'

/** Makes the n-th call fail for n = 1, 2, …, once and permanently, until there is no n-th call. */
async function failEach(sweeps: readonly Sweep[], error: Error, { isQuick, home }: RowRun): Promise<RowResult> {
  const violations: string[] = []
  const counts: string[] = []
  for (const [number, sweep] of sweeps.entries())
    for (const lasts of [false, true]) {
      let n = 1
      for (; !(isQuick && n > quickMax); n++) {
        const directory = join(home, `${error}-${number}-${lasts}-${n}`)
        if (!(await failAt({ sweep, error, n, lasts, directory, violations }))) break
      }
      counts.push(`${sweep.kind} ${sweep.call} ${lasts ? 'lasting' : 'once'} ${n - 1}`)
    }
  return { did: `failed ${counts.join(', ')}`, violations }
}

type Failing = {
  readonly sweep: Sweep
  readonly error: Error
  readonly n: number
  readonly lasts: boolean
  readonly directory: string
  readonly violations: string[]
}

/** Returns whether anything failed. */
async function failAt({ sweep, error, n, lasts, directory, violations }: Failing): Promise<boolean> {
  const { kind, call, paths } = sweep
  const location: SubjectLocation = { kind, directory }
  const injection = { calls: [call], does: `error=${error}`, when: lasts ? `${n}+` : String(n) } as const
  const logPath = `${directory}.trace`
  const before = traced({ injection, paths: paths?.(directory), logPath })
  const writer = startWriter({ location, logs, appends, triesMax: triesWhenLasting }, { before, env: oneThread })
  const { isDone, code, stderr } = await writer.ended()
  const label = `${call} ${n}${lasts ? '+' : ''}`
  if (code !== 0) violations.push(`P10 ${kind} ${label}: the process ended with ${code}: ${stderr.slice(0, 300)}`)
  if (!lasts && !isDone && writer.reports().length === 0)
    violations.push(`${kind} ${label}: it did not come to its end`)
  const { violations: found } = await verify({
    location,
    witnesses: await readWitnesses(writer, location),
    reports: writer.reports(),
  })
  for (const violation of found) violations.push(`${label}: ${violation}`)
  const hasFailed = wasHit(logPath)
  for (const path of [directory, logPath]) rmSync(path, { recursive: true, force: true })
  return hasFailed
}

const kinds = ['sqlite', 'jsonl', 'blobs'] as const satisfies readonly SubjectKind[]
const sizes = ['1M', '8M'] as const

/** Fills a real file system and then frees it: the same process recovers automatically. */
async function fillUp({ isQuick, home }: RowRun): Promise<RowResult> {
  const violations: string[] = []
  let runs = 0
  for (const kind of kinds)
    for (const size of isQuick ? sizes.slice(0, 1) : sizes) {
      const mount = join(home, `${kind}-${size}`)
      mkdirSync(mount)
      system('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', mount)
      try {
        for (const violation of await fillAndFree(mount, kind)) violations.push(`${size}: ${violation}`)
        runs += 1
      } finally {
        system('umount', mount)
      }
    }
  return { did: `${runs} full file systems on ${kinds.join(', ')}`, violations }
}

async function fillAndFree(mount: string, kind: SubjectKind): Promise<readonly string[]> {
  const ballast = join(mount, 'ballast')
  writeFileSync(ballast, Buffer.alloc(256 * 1024))
  const location: SubjectLocation = { kind, directory: join(mount, 'store') }
  const writer = startWriter({ location, logs: 2, triesMax: 1000 })
  await writer.refused()
  const full = writer.acknowledgedCount()
  rmSync(ballast)
  // There is space again, without a restart.
  await writer.acknowledged(full + 3)
  writer.process.kill('SIGKILL')
  const { stderr } = await writer.ended()
  const goesOn = writer.acknowledgedCount() > full ? [] : [`${kind}: it did not go on when there was room again`]
  const errors = stderr === '' ? [] : [`${kind}: ${stderr.slice(0, 300)}`]
  // Nearly full again: the recovery must not need more space than there is.
  system('mount', '-o', 'remount,size=64M', mount)
  const reports: readonly Report[] = writer.reports().slice(0, 50)
  const verdict = await verifyInProcess({ location, witnesses: writer.witnesses(), reports })
  return [...goesOn, ...errors, ...verdict.violations]
}

export const noSpace: Row = {
  name: 'D9',
  fault: 'ENOSPC on the n-th write, and a full file system',
  needs: ['root', 'strace', 'tmpfs'],
  async run(run) {
    const [failed, filled] = [await failEach(writes, 'ENOSPC', run), await fillUp(run)]
    return { did: `${failed.did}; ${filled.did}`, violations: [...failed.violations, ...filled.violations] }
  },
}

export const writeFails: Row = {
  name: 'D10',
  fault: 'EIO on the n-th write',
  needs: ['strace'],
  run: (run) => failEach(writes, 'EIO', run),
}

export const syncFails: Row = {
  name: 'D11',
  fault: 'EIO on the n-th sync',
  needs: ['strace'],
  run: (run) => failEach(syncs, 'EIO', run),
}
