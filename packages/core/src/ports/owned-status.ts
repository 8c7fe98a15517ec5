import type { Meta } from '@holdfast/protocol'
import type { Listed } from './catalogue.ts'

type Owned = Pick<Listed, 'meta' | 'busy' | 'owner'>

// Among the ports because every reader of a catalogue needs it, `ls` too, which starts without the rest of core.

/** The owners whose word a list depends on: nobody else need be asked whether they live. */
export const busyOwners = (rows: readonly Owned[]): ReadonlySet<string> =>
  new Set(rows.flatMap(({ busy, owner }) => (busy && owner !== null ? [owner] : [])))

/** Does not believe the dead: what says busy and has no living owner is shown as interrupted. */
export const ownedStatus = (rows: readonly Owned[], living: ReadonlySet<string>): readonly Meta[] =>
  rows.map(({ meta, busy, owner }) =>
    busy && (owner === null || !living.has(owner)) ? { ...meta, status: 'interrupted' } : meta,
  )
