import type { Measurements } from '../measurement.ts'
import { appendRecords } from './appends.ts'
import { attachAndDetach } from './attach-and-detach.ts'
import { leaveHalfOpen } from './half-open.ts'
import { resumeLongLogs } from './long-logs.ts'
import { reconnectAtOnce } from './reconnect-storm.ts'
import type { LoadRun, Scenario } from './scenario.ts'
import { soakServer } from './soak.ts'
import { stallOneReader } from './stalled-reader.ts'
import { keepManySessions } from './stored-sessions.ts'
import { streamManySessions } from './streaming-sessions.ts'
import { watchWithViewers } from './viewers.ts'

export type { LoadRun } from './scenario.ts'

/** Scenarios by the name that people type. */
export const scenarios: { readonly [name: string]: Scenario } = {
  'streaming-sessions': streamManySessions,
  viewers: watchWithViewers,
  'stalled-reader': stallOneReader,
  'half-open': leaveHalfOpen,
  'reconnect-storm': reconnectAtOnce,
  appends: appendRecords,
  'stored-sessions': keepManySessions,
  'long-logs': resumeLongLogs,
  'attach-and-detach': attachAndDetach,
  soak: soakServer,
}

/** Returns the scenarios as measurements. One with violations fails. */
export function loadMeasurements(run: Omit<LoadRun, 'dir'>): Measurements {
  return Object.fromEntries(
    Object.entries(scenarios).map(([name, scenario]) => [
      name,
      async ({ dir }) => {
        const { figures, rows, violations } = await scenario({ ...run, dir })
        const broken = violations.map((what) => ({ what, figure: '', goal: 'never', holds: false }))
        return { figures, rows: [...rows, ...broken] }
      },
    ]),
  )
}
