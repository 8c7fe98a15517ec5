import type { Result } from '@holdfast/protocol'
import type { PortWriter } from '../../../store/sqlite/worker/port-writer.ts'
import type { ImportHost, NamedSession } from '../host/import-host.ts'

/** The names of so many sessions are checked with one message to the main thread. */
const checkedMax = 32

/**
 * Sends records from the thread of the import to that of the store, past the main thread: they would be copied twice.
 * The main thread knows of each session that is not whole yet. It checks names once `memoryUsed` is not 0.
 */
export function createDirectHost(host: ImportHost, writer: PortWriter, memoryUsed: Int32Array): ImportHost {
  const checkNames = createNameChecks(host)
  return {
    ...host,
    create(session, isWhole) {
      if (!isWhole) return host.create(session, isWhole)
      const whole = { ...session, owner: null }
      if (Atomics.load(memoryUsed, 0) === 0) return writer.create(whole)
      const { handle, key } = session.entry.meta
      return writer.createOnce(
        whole,
        checkNames({ session: session.session, handle, ...(key !== undefined && { key }) }),
      )
    },
    append: writer.append,
  }
}

type Check = { readonly named: NamedSession; readonly settle: (free: Result<void> | PromiseLike<never>) => void }

/** Collects the names of several sessions, and asks for them together. */
function createNameChecks({ checkNames }: ImportHost): (named: NamedSession) => Promise<Result<void>> {
  let waiting: Check[] = []
  const flush = (): void => {
    const asked = waiting
    waiting = []
    if (asked.length === 0) return
    const answered = checkNames(asked.map(({ named }) => named))
    answered.then(
      (answers) => answers.forEach((free, index) => void asked[index]?.settle(free)),
      (cause) => asked.forEach(({ settle }) => void settle(Promise.reject(cause))),
    )
  }
  return (named) => {
    if (waiting.length === 0) setImmediate(flush)
    const { promise, resolve } = Promise.withResolvers<Result<void>>()
    waiting.push({ named, settle: resolve })
    if (waiting.length >= checkedMax) flush()
    return promise
  }
}
