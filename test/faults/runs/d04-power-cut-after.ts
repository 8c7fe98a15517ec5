import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Operation, OperationTask, Seen } from '../child-operation.ts'
import type { Shown } from '../pass-criterion.ts'
import { createDisk, type Disk, standStill } from '../power-cut.ts'
import type { Row, RowRun } from '../row.ts'
import { verifyInProcess } from '../verify-process.ts'
import { digestOf, recordAt, sessionOf } from '../workload.ts'

const program = join(import.meta.dirname, '..', 'child-operation.ts')
const operations = [
  'create',
  'append',
  'fork',
  'import',
  'purge',
  'trash',
  'restore',
] as const satisfies readonly Operation[]
const kinds = ['sqlite', 'jsonl'] as const
const roundsAll = 5

/** Cuts the power right after an acknowledgement: what was visible then stays visible. */
export const powerCutAfterDeed: Row = {
  name: 'D4',
  fault: 'power cut right after create, append, fork, import, purge, trash, restore',
  needs: ['root', 'loop mount'],
  async run({ isQuick, home }: RowRun) {
    const disk = createDisk(home)
    const violations: string[] = []
    const rounds = isQuick ? 1 : roundsAll
    let cuts = 0
    try {
      for (let round = 0; round < rounds; round++)
        for (const kind of kinds)
          for (const operation of operations) {
            const task: OperationTask = { kind, directory: join(disk.path, `${kind}-${operation}-${round}`), operation }
            mkdirSync(task.directory, { mode: 0o700 })
            const [before, after] = await cutAfter(disk, task)
            cuts += 1
            if (before !== after) violations.push(`P1 ${kind}: after ${operation}: seen ${before}, then ${after}`)
            const shown = shownBy(JSON.parse(before), operation)
            if (shown.length === 0) continue // purged: nothing is left to check
            const verdict = await verifyInProcess({ location: task, shown })
            for (const violation of verdict.violations) violations.push(`after ${operation}: ${violation}`)
          }
    } finally {
      disk.remove()
    }
    return { did: `${cuts} cuts on ${kinds.join(' and ')}`, violations }
  },
}

/** Returns the records that were visible at the acknowledgement. A fork has its first records from its parent. */
const shownBy = ({ heads }: Seen, operation: Operation): readonly Shown[] =>
  heads.flatMap((head, index) => {
    const log = index + 1
    const writerOf = (seq: number) => (operation === 'fork' && seq === 1 ? 1 : log)
    const digests = Array.from({ length: head }, (_, at) => digestOf(recordAt(writerOf(at + 1), at + 1).record))
    return head === 0 ? [] : [{ session: sessionOf(log), after: 0, digests }]
  })

async function cutAfter(disk: Disk, task: OperationTask): Promise<readonly [string, string]> {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const received = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
  if (child.exitCode !== null) throw new Error(`${task.operation} on ${task.kind} ended before it was acknowledged`)
  await standStill(child)
  disk.cut()
  child.kill('SIGKILL')
  await ended
  disk.restore()
  const looking: OperationTask = { ...task, operation: 'look' }
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(looking)])
  const seen = JSON.parse(stdout) as Seen // written by this suite
  return [String(received[0]), JSON.stringify(seen)]
}
