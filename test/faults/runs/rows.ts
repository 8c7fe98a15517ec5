import type { Row } from '../row.ts'
import { killAtRandom } from './d01-kill.ts'
import { killAtEachCall } from './d02-kill-at-call.ts'
import { powerCut } from './d03-power-cut.ts'
import { powerCutAfterDeed } from './d04-power-cut-after.ts'
import { noSpace, syncFails, writeFails } from './d09-disk-errors.ts'
import { readOnly } from './d12-read-only.ts'
import { killServer } from './d20-kill-server.ts'
import { largeLog } from './d22-large.ts'
import { fullWhileExporting } from './d23-full-while-exporting.ts'
import { killedUpgrade } from './d24-upgrade.ts'
import { randomMix } from './d28-simulation.ts'
import { everyBit, everyCut } from './every-byte-and-bit.ts'
import { failover } from './g01-failover.ts'
import { clusterFaults } from './g04-cluster.ts'
import { fullDatabase } from './g05-full-database.ts'

/** In the order of the matrix. */
export const rows: readonly Row[] = [
  killAtRandom,
  killAtEachCall,
  powerCut,
  powerCutAfterDeed,
  everyCut,
  everyBit,
  noSpace,
  writeFails,
  syncFails,
  readOnly,
  killServer,
  largeLog,
  fullWhileExporting,
  killedUpgrade,
  randomMix,
  failover,
  clusterFaults,
  fullDatabase,
]
