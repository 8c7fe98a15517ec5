import type { PortWriter } from '../../../store/sqlite/worker/port-writer.ts'
import type { ImportHost } from '../host/import-host.ts'

/**
 * Sends records from the thread of the import to that of the store, past the main thread: they would be copied twice.
 * The main thread still checks names, and knows of each session that is not whole yet.
 */
export function createDirectHost(host: ImportHost, writer: PortWriter): ImportHost {
  return {
    ...host,
    async create(session, isWhole) {
      if (!isWhole) return host.create(session, isWhole)
      const { handle, key } = session.entry.meta
      const free = await host.checkNames(session.session, { handle, ...(key !== undefined && { key }) })
      return free.ok ? writer.create({ ...session, owner: null }) : free
    },
    append: writer.append,
  }
}
