import type { NewSession } from '@holdfast/core/ports'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import * as faults from '../../store-faults.ts'
import { attempt, type Database } from '../connect/connect.ts'
import { encodeNew } from './encode-changes.ts'

const attemptsMax = 3
const uniqueViolation = '23505'

/** Creates a session. Two that race for a name both pass the check: the second then finds the name taken. */
export const createSession = (database: Database, created: NewSession): Promise<Result<void>> =>
  attempt(async () => {
    const encoded = JSON.stringify(encodeNew(created))
    for (let attempts = 1; ; attempts += 1) {
      const made = await attempt(() => create(database, created, encoded))
      const isRace = !made.ok && made.fault.details?.['sqlState'] === uniqueViolation
      if (!isRace || attempts >= attemptsMax) return made
    }
  })

async function create(database: Database, { session, parent, entry, label }: NewSession, encoded: string) {
  const [row] = await database.write('select @create_session($1::jsonb) as refusal', [encoded])
  const refusal = row?.['refusal'] as { readonly code: string; readonly session: string } | null // made by the function
  if (refusal === null) {
    if (label !== undefined) await database.write('update @session set label = $2 where id = $1', [session, label])
    return done
  }
  switch (refusal.code) {
    case 'id':
      return refuse(faults.sessionExists(session))
    case 'handle':
      return refuse(faults.handleTaken(entry.meta.handle, refusal.session))
    case 'key':
      return refuse(faults.keyTaken(entry.meta.key ?? '', refusal.session))
    default:
      return refuse(faults.sessionNotFound(parent ?? ''))
  }
}
