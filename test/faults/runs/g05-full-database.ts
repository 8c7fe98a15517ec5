import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { appendTo, mustCreate, newSession, readAll, recordAt, textSaid } from '@holdfast/testkit/contracts'
import { startPostgres } from '@holdfast/testkit/postgres'
import { check } from '../../../packages/holdfast/src/admin/doctor/check-store.ts'
import { connect } from '../../../packages/holdfast/src/store/postgres/connect/connect.ts'
import { parsePostgresUrl } from '../../../packages/holdfast/src/store/postgres/connect/postgres-url.ts'
import { openPostgresStore } from '../../../packages/holdfast/src/store/postgres/postgres-store.ts'
import type { Row } from '../row.ts'

const recordBytes = 200_000
const appendsMax = 1000

/** The records of a store are on a disk that is really full, until a file beside them is removed. */
export const fullDatabase: Row = {
  name: 'G5',
  fault: 'the disk of PostgreSQL is full',
  needs: ['root', 'tmpfs'],
  async run() {
    const violations: string[] = []
    const server = await startPostgres()
    const small = join(server.directory, 'small') // where the user of the server may look
    await mkdir(small)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m,mode=755', 'tmpfs', small])
    let kept = 1
    try {
      const location = orThrow(parsePostgresUrl(`${server.url('full')}&durability=unchecked`))
      const { store } = orThrow(await openPostgresStore(location))
      const { uid, gid } = await stat(server.directory)
      await mkdir(join(small, 'tables'))
      await chown(join(small, 'tables'), uid, gid)
      await writeFile(join(small, 'filler'), randomBytes(8_000_000))
      const database = await connect(location)
      await database.write(`create tablespace small location '${join(small, 'tables')}'`)
      await database.write('alter table @record set tablespace small')
      await database.close()
      await mustCreate(store, newSession(1))

      const append = (bytes: number) => {
        const text = randomBytes(bytes / 2).toString('hex') // cannot be compressed
        return store.append(appendTo(1, kept, { records: [recordAt(kept + 1, textSaid(text))] }))
      }
      const fill = async () => {
        for (let count = 0; count < appendsMax; count += 1) {
          const appended = await append(recordBytes)
          if (!appended.ok) return appended.fault
          kept += 1
        }
        return null
      }
      const refused = await fill()
      if (refused?.details?.['reason'] !== 'disk_full') violations.push(`refused with ${JSON.stringify(refused)}`)
      if ((await readAll(store, 1)).length !== kept)
        violations.push('the log does not have exactly what was acknowledged')
      await rm(join(small, 'filler'))
      const again = await append(recordBytes)
      if (again.ok) kept += 1
      else violations.push(`still refused: ${again.fault.message}`)
      if ((await readAll(store, 1)).length !== kept) violations.push('the log differs after there was space again')
      await store.close()
      // The rows of the fixture are made up, so only the records are checked.
      const { findings } = orThrow(await check(location))
      const damage = findings.filter(({ code }) => code === 'lost_records' || code === 'head')
      violations.push(...damage.map(({ what }) => `doctor: ${what}`))
    } finally {
      await server.stop()
      execFileSync('umount', [small])
      await server.close()
    }
    return { did: `${kept} records until the disk was full, and one after`, violations }
  },
}
