import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Recorded, SessionId } from '@holdfast/protocol'
import { prepareStoreFile } from '../../../packages/holdfast/src/store/sqlite/files/database-file.ts'
import { backupPathOf } from '../../../packages/holdfast/src/store/sqlite/files/upgrade-store.ts'
import { writeVersion1 } from '../../../packages/holdfast/src/store/sqlite/files/version-1.fixture.ts'
import { writeVersion2 } from '../../../packages/holdfast/src/store/sqlite/files/version-2.fixture.ts'
import { decompressBody } from '../../../packages/holdfast/src/store/sqlite/rows/columns.ts'
import { schemaVersion } from '../../../packages/holdfast/src/store/sqlite/rows/schema.ts'
import { type Shown, verify } from '../pass-criterion.ts'
import type { Row, RowRun } from '../row.ts'
import { oneThread, traced } from '../strace.ts'
import { databaseIn } from '../subject/subject.ts'
import { digestOf } from '../workload.ts'

const program = join(
  import.meta.dirname,
  '../../../packages/holdfast/src/store/sqlite/files/upgrade-process.fixture.ts',
)
const calls = ['pwrite64', 'fsync', 'fdatasync', 'ftruncate', 'link', 'rename', 'unlink', 'chmod', 'fchmod']
const quickMax = 2

type Old = { readonly version: number; readonly write: (path: string) => void }
const olds: readonly Old[] = [
  { version: 1, write: writeVersion1 },
  { version: 2, write: writeVersion2 },
]

/** Kills an upgrade at the n-th call that changes the disk: the store is either old or new, with all data. */
export const killedUpgrade: Row = {
  name: 'D24',
  fault: 'SIGKILL at each call of an upgrade',
  needs: ['strace'],
  async run({ isQuick, home }: RowRun) {
    const violations: string[] = []
    const counts: string[] = []
    for (const old of olds) {
      for (const call of calls) {
        let n = 1
        const directory = () => join(home, `${old.version}-${call}-${n}`)
        while (!(isQuick && n > quickMax) && (await killAt(old, { call, n }, directory(), violations))) n += 1
        counts.push(`version ${old.version} ${call} ${n - 1}`)
      }
    }
    return { did: `killed at ${counts.join(', ')}`, violations }
  },
}

type Moment = { readonly call: string; readonly n: number }

/** Returns whether there was an n-th call. */
async function killAt(old: Old, { call, n }: Moment, directory: string, violations: string[]): Promise<boolean> {
  mkdirSync(directory, { mode: 0o700 })
  const path = databaseIn(directory)
  old.write(path)
  const records = recordsOf(path)
  const shown = shownIn(path)
  const before = traced({ injection: { calls: [call], does: 'signal=KILL', when: String(n) } })
  const [command = 'strace', ...args] = [...before, process.execPath, program, path]
  const { status, stdout } = spawnSync(command, args, { env: { ...process.env, ...oneThread }, encoding: 'utf8' })
  const check = (holds: boolean, what: string) => {
    if (!holds) violations.push(`version ${old.version} ${call} ${n}: ${what}`)
  }
  check([old.version, schemaVersion].includes(versionOf(path)), `it is of version ${versionOf(path)}`)
  check(recordsOf(path) === records, 'its records are others')
  check(prepareStoreFile(path) === null, 'the next one cannot complete it')
  check(versionOf(path) === schemaVersion, 'the next one did not complete it')
  check(recordsOf(path) === records, 'the next one changed its records')
  check(recordsOf(backupPathOf(path, old.version)) === records, 'the copy left beside is another')
  const verdict = await verify({ location: { kind: 'inline', directory }, shown })
  for (const violation of verdict.violations) check(false, violation)
  rmSync(directory, { recursive: true, force: true })
  return !(status === 0 && stdout === 'null')
}

/** Returns the records of each session of the old store, read from its tables before the upgrade. */
function shownIn(path: string): readonly Shown[] {
  return rowsOf(path, 'select sid, id, base from session').map(({ sid, id, base }) => {
    const rows = rowsOf(path, `select seq, at, v, body from record where sid = ${sid} order by seq`)
    const digests = rows.map(({ body, ...row }) =>
      digestOf(Recorded.parse({ ...row, event: JSON.parse(decompressBody(body)) })),
    )
    return { session: SessionId.parse(id), after: Number(base), digests }
  })
}

function rowsOf(path: string, query: string): readonly Record<string, unknown>[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database.prepare(query).all()
  } finally {
    database.close()
  }
}

const recordsOf = (path: string): string =>
  JSON.stringify(rowsOf(path, 'select pos, sid, seq, at, type, v, ref, crc, body from record'))
const versionOf = (path: string): number => Number(rowsOf(path, 'pragma user_version')[0]?.['user_version'])
