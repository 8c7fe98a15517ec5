import type { DatabaseSync } from 'node:sqlite'
import { done, type Result } from '@holdfast/protocol/result'
import { probeText } from '../../probe-text.ts'

/** A follower of this name there is not: what a crash leaves of a probe is in nobody's way, and goes with the next one. */
const probeName = `probe ${probeText}`

/**
 * Finds out whether the file takes writes. The row is committed and then removed, in transactions of their own: what goes
 * within one never reaches the disk.
 */
export function createProbeWriter(database: DatabaseSync) {
  const put = database.prepare('insert or replace into cursor (name, pos) values (?, 0)')
  const remove = database.prepare('delete from cursor where name = ?')
  return {
    begin(): Result<undefined> {
      put.run(probeName)
      return done
    },
    end(): Result<undefined> {
      remove.run(probeName)
      return done
    },
  }
}
