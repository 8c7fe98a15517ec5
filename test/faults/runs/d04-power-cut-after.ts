import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Deed, DeedTask, Seen } from '../child-deed.ts'
import { judgeApart } from '../judge-process.ts'
import type { Shown } from '../pass-criterion.ts'
import { createDisk, type Disk, standStill } from '../power-cut.ts'
import type { Row, RowRun } from '../row.ts'
import { digestOf, recordAt, sessionOf } from '../workload.ts'

const program = join(import.meta.dirname, '..', 'child-deed.ts')
const deeds = ['create', 'append', 'fork', 'import', 'purge', 'trash', 'restore'] as const satisfies readonly Deed[]
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
          for (const deed of deeds) {
            const task: DeedTask = { kind, directory: join(disk.path, `${kind}-${deed}-${round}`), deed }
            mkdirSync(task.directory, { mode: 0o700 })
            const [before, after] = await cutAfter(disk, task)
            cuts += 1
            if (before !== after) violations.push(`P1 ${kind}: after ${deed}: seen ${before}, then ${after}`)
            const shown = shownBy(JSON.parse(before), deed)
            if (shown.length === 0) continue // purged: nothing is left to check
            const verdict = await judgeApart({ place: task, shown })
            for (const violation of verdict.violations) violations.push(`after ${deed}: ${violation}`)
          }
    } finally {
      disk.remove()
    }
    return { did: `${cuts} cuts on ${kinds.join(' and ')}`, violations }
  },
}

/** Returns the records that were visible at the acknowledgement. A fork has its first records from its parent. */
const shownBy = ({ heads }: Seen, deed: Deed): readonly Shown[] =>
  heads.flatMap((head, index) => {
    const log = index + 1
    const writerOf = (seq: number) => (deed === 'fork' && seq === 1 ? 1 : log)
    const digests = Array.from({ length: head }, (_, at) => digestOf(recordAt(writerOf(at + 1), at + 1).record))
    return head === 0 ? [] : [{ session: sessionOf(log), after: 0, digests }]
  })

async function cutAfter(disk: Disk, task: DeedTask): Promise<readonly [string, string]> {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const heard = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
  if (child.exitCode !== null) throw new Error(`${task.deed} on ${task.kind} ended before it was acknowledged`)
  await standStill(child)
  disk.cut()
  child.kill('SIGKILL')
  await ended
  disk.restore()
  const looking: DeedTask = { ...task, deed: 'look' }
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(looking)])
  const seen = JSON.parse(stdout) as Seen // written by this suite
  return [String(heard[0]), JSON.stringify(seen)]
}
