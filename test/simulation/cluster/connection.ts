import { HoldfastError } from '@holdfast/protocol'
import type { Dice, VirtualClock } from '@holdfast/testkit'
import { postgresFault } from '../../../packages/holdfast/src/store/postgres/connect/postgres-fault.ts'
import type { SimProcess } from './sim-process.ts'

/** `cut`: nothing arrives. `losing answers`: statements are committed, and half of the answers get lost. */
export type Mood = 'well' | 'slow' | 'cut' | 'losing answers'

/** The connections of a process to the database. */
export type Connection = {
  mood: Mood
  /** Runs a statement at the database. Rejects if no answer came in time: it may run later, or have run already. */
  ask<Value>(statement: () => Promise<Value> | Value): Promise<Value>
}

export const lostConnection = () => new HoldfastError(postgresFault('postgres://simulated', 'unreachable'))

/** Runs statements one after the other, so that each is a transaction. */
export type Transact = <Value>(statement: () => Promise<Value>) => Promise<Value>

const answerMsMax = 1500

export function createConnection(
  { clock, dice, transact }: { readonly clock: VirtualClock; readonly dice: Dice; readonly transact: Transact },
  process: SimProcess,
): Connection {
  const delayMs = (mood: Mood): number => {
    if (dice.chance(1, 150)) return dice.below(6000) // one packet is late, perhaps by more than a term
    return mood === 'slow' ? 20 + dice.below(900) : 1 + dice.below(4)
  }
  const connection: Connection = {
    mood: 'well',
    ask<Value>(statement: () => Promise<Value> | Value) {
      const { promise, resolve, reject } = Promise.withResolvers<Value>()
      const cancel = process.clock.after(answerMsMax, () => reject(lostConnection()))
      // A closed connection is noticed at once, a silent one only after a time.
      const lose = () => {
        if (dice.chance(1, 2)) process.run(() => reject(lostConnection()))
      }
      const answer = (settle: () => void) => {
        const isLost = connection.mood === 'cut' || (connection.mood === 'losing answers' && dice.chance(1, 2))
        if (isLost) return lose()
        clock.after(delayMs(connection.mood), () => process.run(settle))
      }
      // The statement runs even if its process has died meanwhile: it was on its way.
      clock.after(delayMs(connection.mood), () => {
        if (connection.mood === 'cut') return lose()
        transact(async () => statement()).then(
          (value) => answer(() => resolve(value)),
          (cause) => answer(() => reject(cause)),
        )
      })
      const done = () => cancel()
      promise.then(done, done)
      return promise
    },
  }
  return connection
}
