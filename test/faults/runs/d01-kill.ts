import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Witness } from '../pass-criterion.ts'
import { verify } from '../pass-criterion.ts'
import { readWitnesses } from '../read-witnesses.ts'
import type { Row, RowRun } from '../row.ts'
import type { SubjectKind, SubjectLocation } from '../subject/subject.ts'
import { startWriter } from '../writer-process.ts'

const kinds = ['sqlite', 'jsonl', 'blobs'] as const satisfies readonly SubjectKind[]
const logCounts = [1, 8, 64]
const cyclesPerPlaceMax = 12
const cyclesAll = Number(process.env['KILL_CYCLES'] ?? 1000)
const cyclesQuick = 18

/** Kills the writer at a random moment during appends; the next writer continues from there. */
export const killAtRandom: Row = {
  name: 'D1',
  fault: 'kill -9 at a random moment of an append',
  needs: [],
  async run({ isQuick, dice, home }: RowRun) {
    const violations: string[] = []
    let [acknowledged, cycle] = [0, 0]
    const cycles = isQuick ? cyclesQuick : cyclesAll
    for (let number = 0; cycle < cycles; number++) {
      const kind = kinds[number % kinds.length] ?? 'sqlite'
      const logs = logCounts[Math.floor(number / kinds.length) % logCounts.length] ?? 1
      const location: SubjectLocation = { kind, directory: join(home, String(number)) }
      const kept = new Map<number, number>()
      for (let turn = 0; turn < (isQuick ? 2 : cyclesPerPlaceMax) && cycle < cycles; turn++, cycle++) {
        const writer = startWriter({ location, logs })
        await writer.acknowledged(dice.below(20 + logs * 4))
        writer.process.kill('SIGKILL')
        await writer.ended()
        acknowledged += writer.acknowledgedCount()
        const witnesses = (await readWitnesses(writer, location)).map((witness) => atLeast(witness, kept))
        const verdict = await verify({ location, witnesses, reports: writer.reports() })
        for (const violation of verdict.violations) violations.push(`cycle ${cycle}, ${logs} logs: ${violation}`)
      }
      rmSync(location.directory, { recursive: true, force: true })
    }
    return { did: `${cycle} cycles on ${kinds.join(', ')} with 1, 8 and 64 logs, ${acknowledged} appends`, violations }
  },
}

/** Appends that an earlier writer acknowledged must be there too. */
function atLeast(witness: Witness, kept: Map<number, number>): Witness {
  const acknowledged = Math.max(witness.acknowledged, kept.get(witness.log) ?? 0)
  kept.set(witness.log, acknowledged)
  return { ...witness, acknowledged }
}
