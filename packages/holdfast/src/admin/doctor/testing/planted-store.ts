import { readFileSync, writeFileSync } from 'node:fs'
import type { FindingCode } from '../../../store/finding.ts'
import type { DiskLocation } from '../../../store/open/store-location.ts'
import type { FilledStore } from '../../../store/open/testing/a-store.ts'

export type Planted = { readonly location: DiskLocation; readonly sessions: FilledStore }

/** Something that cannot be repaired, or that need not be: it stays. */
export type Staying = 'permanent' | 'harmless'
export type Row = readonly [
  what: string,
  code: FindingCode,
  plant: (planted: Planted) => void | Promise<void>,
  stays?: Staying,
]

/** Flips one bit of a file. */
export function flipAt(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(path, bytes)
}
