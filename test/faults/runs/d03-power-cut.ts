import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Witness } from '../pass-criterion.ts'
import { createDisk, standStill } from '../power-cut.ts'
import { readWitnesses } from '../read-witnesses.ts'
import type { Row, RowRun } from '../row.ts'
import type { SubjectKind, SubjectLocation } from '../subject/subject.ts'
import { verifyInProcess } from '../verify-process.ts'
import { startWriter } from '../writer-process.ts'

const kinds = ['sqlite', 'jsonl', 'blobs'] as const satisfies readonly SubjectKind[]
const cyclesAll = 200
const cyclesQuick = 6
const cyclesPerPlaceMax = 8

/** Cuts the power of a real file system at a random moment; every acknowledged append must survive. */
export const powerCut: Row = {
  name: 'D3',
  fault: 'power cut on ext4 at a random moment',
  needs: ['root', 'loop mount'],
  async run({ isQuick, dice, home }: RowRun) {
    const disk = createDisk(home)
    const violations: string[] = []
    let [cycle, acknowledged, torn] = [0, 0, 0]
    const cycles = isQuick ? cyclesQuick : cyclesAll
    try {
      for (let number = 0; cycle < cycles; number++) {
        const location: SubjectLocation = {
          kind: kinds[number % kinds.length] ?? 'sqlite',
          directory: join(disk.path, `${number}`),
        }
        const kept = new Map<number, number>()
        for (let turn = 0; turn < (isQuick ? 2 : cyclesPerPlaceMax) && cycle < cycles; turn++, cycle++) {
          const writer = startWriter({ location, logs: 1 + dice.below(4) })
          await writer.acknowledged(dice.below(120))
          await standStill(writer.process)
          disk.cut()
          writer.process.kill('SIGKILL')
          await writer.ended()
          disk.restore()
          acknowledged += writer.acknowledgedCount()
          const witnesses = (await readWitnesses(writer, location)).map((witness) => remembering(witness, kept))
          torn += witnesses.filter((witness) => witness.submitted > witness.acknowledged).length
          const verdict = await verifyInProcess({ location, witnesses })
          for (const violation of verdict.violations) violations.push(`cycle ${cycle}: ${violation}`)
        }
        rmSync(location.directory, { recursive: true, force: true })
      }
    } finally {
      disk.remove()
    }
    const did = `${cycle} cycles on ${kinds.join(', ')}, ${acknowledged} appends, ${torn} in flight at the cut`
    return { did, violations }
  },
}

/** Appends acknowledged before an earlier cut must still be there. */
function remembering(witness: Witness, kept: Map<number, number>): Witness {
  const acknowledged = Math.max(witness.acknowledged, kept.get(witness.log) ?? 0)
  kept.set(witness.log, acknowledged)
  return { ...witness, acknowledged }
}
