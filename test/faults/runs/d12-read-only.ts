import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { system } from '../machine.ts'
import { standStill } from '../power-cut.ts'
import type { Row, RowRun } from '../row.ts'
import { oneThread, traced, wasHit } from '../strace.ts'
import type { SubjectKind, SubjectLocation } from '../subject/subject.ts'
import { writes } from '../sweeps.ts'
import { verifyInProcess } from '../verify-process.ts'
import { startWriter, type WriterProcess } from '../writer-process.ts'

const kinds = ['sqlite', 'jsonl', 'blobs'] as const satisfies readonly SubjectKind[]
/** The refused writes: some in the middle of the run. */
const refusedWrites = '5..12'

/** Makes a file system read-only under a running writer, or before a new one starts, and then writable again. */
export const readOnly: Row = {
  name: 'D12',
  fault: 'a file system that becomes read-only',
  needs: ['root', 'tmpfs', 'strace'],
  async run({ home }: RowRun) {
    const violations: string[] = []
    for (const kind of kinds) violations.push(...(await onDisk(join(home, kind), kind, underANewWriter)))
    violations.push(...(await onDisk(join(home, 'living'), 'blobs', underALivingWriter)))
    for (const { kind } of writes)
      violations.push(...(await underOpenFiles({ kind, directory: join(home, `open-${kind}`) })))
    const living = `a living one on blobs (remount) and ${writes.map(({ kind }) => kind).join(', ')} (EROFS on open files)`
    return { did: `a new writer on ${kinds.join(', ')} (remount), ${living}`, violations }
  },
}

type Met = (location: SubjectLocation, turn: (to: 'ro' | 'rw') => void) => Promise<readonly string[]>

async function onDisk(mount: string, kind: SubjectKind, meet: Met): Promise<readonly string[]> {
  mkdirSync(mount)
  system('mount', '-t', 'tmpfs', '-o', 'size=64M', 'tmpfs', mount)
  try {
    return await meet({ kind, directory: join(mount, 'store') }, (to) => system('mount', '-o', `remount,${to}`, mount))
  } finally {
    system('umount', mount)
  }
}

async function underANewWriter(location: SubjectLocation, turn: (to: 'ro' | 'rw') => void): Promise<readonly string[]> {
  const first = startWriter({ location, logs: 2, appends: 20 })
  await first.ended()
  turn('ro')
  const second = startWriter({ location, logs: 2, appends: 1 })
  const { code, stderr } = await second.ended()
  turn('rw')
  const wrong = code === 0 ? [] : [`P10 ${location.kind}: the process ended with ${code}: ${stderr.slice(0, 300)}`]
  const wrongly = second.acknowledgedCount() > 0 ? [`P1 ${location.kind}: acknowledged what cannot be written`] : []
  const verdict = await verifyInProcess({ location, witnesses: first.witnesses(), reports: second.reports() })
  return [...wrong, ...wrongly, ...refusalsOf(second, location.kind), ...verdict.violations]
}

/** A mount with a file open for writing cannot become read-only, so this tries between two blobs of the writer. */
async function underALivingWriter(
  location: SubjectLocation,
  turn: (to: 'ro' | 'rw') => void,
): Promise<readonly string[]> {
  const writer = startWriter({ location, logs: 1, triesMax: 1000 })
  await writer.acknowledged(5)
  for (let isTurned = false; !isTurned; ) {
    await standStill(writer.process)
    try {
      turn('ro')
      isTurned = true
    } catch (busy) {
      await writer.acknowledged(writer.acknowledgedCount()) // fails if the writer is dead, so that the loop ends
      if (writer.process.exitCode !== null) throw busy
    } finally {
      writer.process.kill('SIGCONT')
    }
  }
  await writer.refused()
  const until = writer.acknowledgedCount()
  turn('rw')
  await writer.acknowledged(until + 3)
  writer.process.kill('SIGKILL')
  const { stderr } = await writer.ended()
  const hasGoneOn = writer.acknowledgedCount() > until
  const goesOn = hasGoneOn ? [] : [`${location.kind}: it did not go on by itself: ${stderr.slice(0, 300)}`]
  const verdict = await verifyInProcess({
    location,
    witnesses: writer.witnesses(),
    reports: writer.reports().slice(0, 50),
  })
  return [...goesOn, ...refusalsOf(writer, location.kind), ...verdict.violations]
}

/** Stores keep files open, so the mount cannot change; strace refuses the writes instead. */
async function underOpenFiles(location: SubjectLocation): Promise<readonly string[]> {
  const { call, paths } = writes.find(({ kind }) => kind === location.kind) ?? writes[0] ?? { call: 'write' }
  const injection = { calls: [call], does: 'error=EROFS', when: refusedWrites } as const
  const logPath = `${location.directory}.trace`
  const before = traced({ injection, paths: paths?.(location.directory), logPath })
  const writer = startWriter({ location, logs: 2, appends: 8, triesMax: 40 }, { before, env: oneThread })
  const { isDone, code, stderr } = await writer.ended()
  const { kind } = location
  const hit = wasHit(logPath) ? [] : [`${kind}: no write was refused`]
  const ends = isDone && code === 0 ? [] : [`${kind}: it did not go on by itself: ${stderr.slice(0, 300)}`]
  const whole = writer.witnesses().filter(({ submitted, acknowledged }) => submitted !== acknowledged)
  const left = whole.map(({ log }) => `${kind}: log ${log} was not written to its end`)
  const silent = writer.reports().length === 0 ? [`P10 ${kind}: no error was reported`] : []
  const verdict = await verifyInProcess({ location, witnesses: writer.witnesses(), reports: writer.reports() })
  return [...hit, ...ends, ...left, ...silent, ...verdict.violations]
}

function refusalsOf(writer: WriterProcess, kind: SubjectKind): readonly string[] {
  const others = writer.reports().filter(({ fault }) => fault.details?.['reason'] !== 'read_only')
  const silent = writer.reports().length === 0 ? [`P10 ${kind}: no error was reported`] : []
  return [...silent, ...others.map(({ fault }) => `P10 ${kind}: ${JSON.stringify(fault)}`)]
}
