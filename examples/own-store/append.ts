// How the append of a store on a database looks. `Database` is whatever your database offers.
import type { Append, Store } from 'holdfast'
import { done, refuse, storeFaults } from 'holdfast/store'

interface Database {
  transaction<Value>(work: (sql: Sql) => Promise<Value>): Promise<Value>
}

interface Sql {
  lockSession(session: string): Promise<{ readonly epoch: number; readonly head: number } | null>
  findFirstCommand(session: string, records: Append['records']): Promise<{ readonly seq: number } | null>
  insertRecords(session: string, records: Append['records'], commandHash: string | undefined): Promise<void>
  updateRow(session: string, row: Pick<Append, 'entry' | 'clearDraft' | 'blobs'> & { head: number }): Promise<void>
  changeTrust(workspace: string, trust: Append['trust']): Promise<void>
  addCharge(charge: NonNullable<Append['charge']>): Promise<void>
}

export const createAppend = (database: Database): Pick<Store, 'append'> => ({
  async append({ session, after, epoch, records, entry, clearDraft, blobs, trust, charge, commandHash }) {
    return await database.transaction(async (sql) => {
      const row = await sql.lockSession(session) // the row stays locked until the commit
      if (!row) return refuse(storeFaults.sessionNotFound(session))
      if (row.epoch !== epoch) return refuse(storeFaults.fenced(session, epoch, row.epoch))
      const seen = await sql.findFirstCommand(session, records)
      if (seen) return refuse(storeFaults.commandSeen(seen.seq))
      if (row.head !== after) return refuse(storeFaults.logMoved(session, after, row.head))
      await sql.insertRecords(session, records, commandHash)
      await sql.updateRow(session, { head: after + records.length, entry, clearDraft, blobs })
      await sql.changeTrust(entry.meta.workspace, trust)
      if (charge) await sql.addCharge(charge)
      return done
    })
  },
})
