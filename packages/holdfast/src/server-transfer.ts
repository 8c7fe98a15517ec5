import { fault, limits, ok, refuse } from '@holdfast/protocol'
import { toResult } from './admin/jobs/admin.ts'
import type { Holdfast } from './holdfast.ts'
import type { Transfer } from './server/define/server-parts.ts'
import { formatNames } from './transfer/import/parse/format.ts'
import { publicImportFault } from './transfer/import/public-fault.ts'

const stopped = fault('import_stopped', 'The import was stopped before it began. Nothing was imported.')
const busyMessage = `The server has ${limits.importsWaitingMax} imports to do, one after the other. Try again in a while.`
const busy = refuse(fault('server_busy', busyMessage, { retryAfterSeconds: 30 }))

/** Creates the exports and imports that the server offers. */
export function createTransfer(holdfast: Pick<Holdfast, 'export' | 'import'>): Transfer {
  let imports = 0
  return {
    /** Creates the first piece before answering, so that an unknown session is an error and not half a file. */
    export: (name, options) =>
      toResult(async () => {
        const pieces = holdfast.export(name, options)[Symbol.asyncIterator]()
        const first = await pieces.next()
        return (async function* () {
          try {
            for (let next = first; !next.done; next = await pieces.next()) yield next.value
          } finally {
            await pieces.return?.() // the client may leave before the end
          }
        })()
      }),
    admitImport() {
      if (imports >= limits.importsWaitingMax) return busy
      imports++
      return ok({ [Symbol.dispose]: () => void imports-- })
    },
    async importFile(path, { from, ...options }) {
      const format = formatNames.find((one) => one === from)
      if (from !== undefined && from !== 'auto' && format === undefined) {
        return refuse(fault('bad_request', `from must be auto, ${formatNames.join(', ')}.`, { from }))
      }
      const files = await holdfast.import(path, { ...options, from: format })
      if (files.length === 0 && options.signal?.aborted) return refuse(stopped)
      const [failed] = files.filter(({ status }) => status === 'failed' || status === 'skipped')
      if (failed?.fault) return refuse(publicImportFault(failed.fault, path))
      return ok(
        files.map(({ status, session, format: found, messages, remarks }) => ({
          status,
          session,
          format: found,
          messages,
          remarks: remarks.map(({ code, what, line }) => ({ code, what, ...(line !== null && { line }) })),
        })),
      )
    },
  }
}
