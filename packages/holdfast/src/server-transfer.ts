import { fault, ok, refuse } from '@holdfast/protocol'
import { toResult } from './admin/jobs/admin.ts'
import type { Holdfast } from './holdfast.ts'
import type { Transfer } from './server/define/server-parts.ts'
import { formatNames } from './transfer/import/parse/format.ts'
import { publicImportFault } from './transfer/import/public-fault.ts'

/** Creates the exports and imports that the server offers. */
export function createTransfer(holdfast: Pick<Holdfast, 'export' | 'import'>): Transfer {
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
    async importFile(path, { from, ...options }) {
      const format = formatNames.find((one) => one === from)
      if (from !== undefined && from !== 'auto' && format === undefined) {
        return refuse(fault('bad_request', `from must be auto, ${formatNames.join(', ')}.`, { from }))
      }
      const files = await holdfast.import(path, { ...options, from: format })
      const [failed] = files.filter(({ status }) => status === 'failed' || status === 'skipped')
      if (failed?.fault) return refuse(publicImportFault(failed.fault, path))
      return ok(
        files.map(({ status, session, format: found, messages, remarks }) => ({
          ...{ status, session, format: found, messages },
          remarks: remarks.map(({ code, what, line }) => ({ code, what, ...(line !== null && { line }) })),
        })),
      )
    },
  }
}
