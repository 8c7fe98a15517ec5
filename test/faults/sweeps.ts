import { dirname, join } from 'node:path'
import { blobPathIn } from './subject/blobs.ts'
import { databaseIn, type SubjectKind } from './subject/subject.ts'
import { sessionOf } from './workload.ts'

/** A system call that only one thread makes, so that its n-th call is well defined; with `paths`, only on these files. */
export type Sweep = {
  readonly kind: SubjectKind
  readonly call: string
  /** Starts with a torn log, so that the fault hits its recovery. */
  readonly isTorn?: boolean
  readonly paths?: (directory: string) => readonly string[]
}

const logFiles = (directory: string) =>
  [1, 2].map((log) => join(directory, `${sessionOf(log)}.jsonl`)).concat(join(directory, 'catalogue.jsonl'))
const sideFolders = (directory: string) => [join(directory, 'drafts'), join(directory, 'snapshots')]
const shelves = (directory: string) =>
  [1, 2].flatMap((log) => [1, 2, 3, 4].map((n) => dirname(blobPathIn(directory, log, n))))
const databaseFiles = (directory: string) => ['', '-wal'].map((end) => `${databaseIn(directory)}${end}`)

const of = (kind: SubjectKind, ...calls: readonly string[]): readonly Sweep[] => calls.map((call) => ({ kind, call }))

/** Every system call with which a store changes the disk. */
export const changes: readonly Sweep[] = [
  ...of('sqlite', 'pwrite64', 'fsync', 'ftruncate', 'link', 'unlink', 'mkdir', 'chmod'),
  ...of('jsonl', 'fdatasync', 'fsync', 'rename', 'fchmod'),
  { kind: 'jsonl', call: 'write', paths: logFiles },
  // Another thread creates the directory itself.
  { kind: 'jsonl', call: 'mkdir', paths: (directory) => [directory] },
  { kind: 'jsonl', call: 'mkdir', paths: sideFolders },
  { kind: 'jsonl', call: 'chmod', paths: sideFolders },
  ...['fsync', 'link', 'unlink', 'ftruncate'].map((call) => ({ kind: 'jsonl', call, isTorn: true }) as const),
  ...of('blobs', 'fsync', 'rename', 'fchmod'),
  { kind: 'blobs', call: 'mkdir', paths: (directory) => [directory] },
  { kind: 'blobs', call: 'mkdir', paths: shelves },
]

/** The calls that write and sync appends: those that fail on a full or failing disk. */
export const writes: readonly Sweep[] = [
  { kind: 'sqlite', call: 'pwrite64', paths: databaseFiles },
  { kind: 'jsonl', call: 'write', paths: logFiles },
]
export const syncs: readonly Sweep[] = [
  { kind: 'sqlite', call: 'fsync', paths: databaseFiles },
  { kind: 'jsonl', call: 'fdatasync', paths: logFiles },
  ...of('jsonl', 'fsync'),
  ...of('blobs', 'fsync'),
]
