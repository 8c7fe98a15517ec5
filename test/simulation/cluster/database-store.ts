import type { Store } from '@holdfast/core/ports'
import { HoldfastError, InvariantViolation, invariant, type Result, refuse } from '@holdfast/protocol'
import type { Database } from '../../../packages/holdfast/src/store/postgres/connect/connect.ts'
import { createAppendQueue } from '../../../packages/holdfast/src/store/postgres/write/append-queue.ts'
import type { Connection } from './connection.ts'
import type { SentAppend } from './decode-append.ts'
import type { SimulatedDatabase } from './simulated-database.ts'

/** The statements that return a refusal when the database does not answer. The others throw. */
const refusing = ['create', 'claim', 'saveDraft', 'trash', 'restore', 'purge', 'probe', 'addCharge'] as const

/** The store of a node: every statement passes its connection. Appends go through the queue of the PostgreSQL store. */
export function createDatabaseStore({ statements }: SimulatedDatabase, connection: Connection, node: string): Store {
  // Without patience: pauses would pass in the time of this machine, not in the simulated one.
  const queue = createAppendQueue(appendThrough(statements, connection, node), () => undefined, { patienceMs: 0 })
  const names = Object.keys(statements) as (keyof Store)[] // it has the methods of a store
  const asked = names.map((name) => {
    const statement = statements[name] as unknown
    if (typeof statement !== 'function') return [name, statement]
    const ask = (...given: readonly unknown[]) => connection.ask(() => statement(...given))
    return [name, refusing.some((one) => one === name) ? withRefusal(ask) : ask]
  })
  return { ...(Object.fromEntries(asked) as Store), append: queue.append, close: async () => undefined } // same signatures
}

const withRefusal =
  (ask: (...given: readonly unknown[]) => Promise<unknown>) =>
  async (...given: readonly unknown[]) => {
    try {
      return await ask(...given)
    } catch (error) {
      if (error instanceof HoldfastError) return refuse(error.toFault())
      throw error
    }
  }

/** Does what the function `append` of the database does: one answer for each batch of the group. */
function appendThrough({ append }: SimulatedDatabase['statements'], connection: Connection, node: string): Database {
  const write: Database['write'] = async (statement, values = []) => {
    invariant(statement.includes('@append'), `the queue only appends: ${statement}`)
    const [changes, isRetry] = values
    const sent = JSON.parse(String(changes)) as readonly SentAppend[] // as the queue encoded it
    const results = await connection.ask(() => append(sent, isRetry === true, node))
    return [{ answers: results.map(toAnswer) }]
  }
  const never = async (): Promise<never> => {
    throw new InvariantViolation('the queue uses no other statement')
  }
  return { name: 'postgres://simulated', write, read: never, transaction: never, close: async () => undefined }
}

/** Returns the answer as the function of the database gives it: null, or why the batch is refused. */
function toAnswer(result: Result<void>): object | null {
  if (result.ok) return null
  const { code, details } = result.fault
  return { code, ...details }
}
