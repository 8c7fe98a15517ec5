import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { judgeApart } from '../judge-process.ts'
import { system } from '../machine.ts'
import { standStill } from '../power-cut.ts'
import type { Row, RowRun } from '../row.ts'
import { oneThread, traced, wasHit } from '../strace.ts'
import type { Place, SubjectKind } from '../subject/subject.ts'
import { writes } from '../sweeps.ts'
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

type Met = (place: Place, turn: (to: 'ro' | 'rw') => void) => Promise<readonly string[]>

async function onDisk(mount: string, kind: SubjectKind, meet: Met): Promise<readonly string[]> {
  mkdirSync(mount)
  system('mount', '-t', 'tmpfs', '-o', 'size=64M', 'tmpfs', mount)
  try {
    return await meet({ kind, directory: join(mount, 'store') }, (to) => system('mount', '-o', `remount,${to}`, mount))
  } finally {
    system('umount', mount)
  }
}

async function underANewWriter(place: Place, turn: (to: 'ro' | 'rw') => void): Promise<readonly string[]> {
  const first = startWriter({ place, logs: 2, appends: 20 })
  await first.ended()
  turn('ro')
  const second = startWriter({ place, logs: 2, appends: 1 })
  const { code, stderr } = await second.ended()
  turn('rw')
  const wrong = code === 0 ? [] : [`P10 ${place.kind}: the process ended with ${code}: ${stderr.slice(0, 300)}`]
  const told = second.acknowledgedCount() > 0 ? [`P1 ${place.kind}: acknowledged what cannot be written`] : []
  const verdict = await judgeApart({ place, witnesses: first.witnesses(), reports: second.reports() })
  return [...wrong, ...told, ...refusalsOf(second, place.kind), ...verdict.violations]
}

/** A mount with a file open for writing cannot become read-only, so this tries between two blobs of the writer. */
async function underALivingWriter(place: Place, turn: (to: 'ro' | 'rw') => void): Promise<readonly string[]> {
  const writer = startWriter({ place, logs: 1, triesMax: 1000 })
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
  const goesOn = hasGoneOn ? [] : [`${place.kind}: it did not go on by itself: ${stderr.slice(0, 300)}`]
  const verdict = await judgeApart({ place, witnesses: writer.witnesses(), reports: writer.reports().slice(0, 50) })
  return [...goesOn, ...refusalsOf(writer, place.kind), ...verdict.violations]
}

/** Stores keep files open, so the mount cannot change; strace refuses the writes instead. */
async function underOpenFiles(place: Place): Promise<readonly string[]> {
  const { call, paths } = writes.find(({ kind }) => kind === place.kind) ?? writes[0] ?? { call: 'write' }
  const injection = { calls: [call], does: 'error=EROFS', when: refusedWrites } as const
  const logPath = `${place.directory}.trace`
  const before = traced({ injection, paths: paths?.(place.directory), logPath })
  const writer = startWriter({ place, logs: 2, appends: 8, triesMax: 40 }, { before, env: oneThread })
  const { isDone, code, stderr } = await writer.ended()
  const { kind } = place
  const hit = wasHit(logPath) ? [] : [`${kind}: no write was refused`]
  const ends = isDone && code === 0 ? [] : [`${kind}: it did not go on by itself: ${stderr.slice(0, 300)}`]
  const whole = writer.witnesses().filter(({ submitted, acknowledged }) => submitted !== acknowledged)
  const left = whole.map(({ log }) => `${kind}: log ${log} was not written to its end`)
  const silent = writer.reports().length === 0 ? [`P10 ${kind}: nobody was told`] : []
  const verdict = await judgeApart({ place, witnesses: writer.witnesses(), reports: writer.reports() })
  return [...hit, ...ends, ...left, ...silent, ...verdict.violations]
}

function refusalsOf(writer: WriterProcess, kind: SubjectKind): readonly string[] {
  const others = writer.reports().filter(({ fault }) => fault.details?.['reason'] !== 'read_only')
  const silent = writer.reports().length === 0 ? [`P10 ${kind}: nobody was told`] : []
  return [...silent, ...others.map(({ fault }) => `P10 ${kind}: ${JSON.stringify(fault)}`)]
}
