import type { Append } from '@holdfast/core/ports'
import { invariant, type SessionId } from '@holdfast/protocol'
import { HoldfastError } from '@holdfast/protocol/fault'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import * as faults from '../../store-faults.ts'
import type { Database } from '../connect/connect.ts'
import { type Patience, untilBack } from '../connect/patience.ts'
import { isLossFault } from '../connect/postgres-fault.ts'
import { encodeAppend } from './encode-changes.ts'

type Waiting = {
  readonly append: Append
  readonly encoded: string
  readonly settle: (answer: Result<void>) => void
  /** Rejects the append: a fault of ours, so nobody may take it as written. */
  readonly fail: (error: unknown) => void
}

/** A refusal of the function `append`; null if the batch was appended. */
type Refusal = {
  readonly code: string
  readonly current?: number
  readonly seq?: number
  readonly actual?: number
} | null

/** While one group waits for the disk, the database works on the next, and may write both at once. */
const groupsMax = 2
const groupMax = 256
const groupCharsMax = 8 * 1024 * 1024

/**
 * Appends in groups: while the groups of this node are on their way, further appends of all sessions wait and go together as the
 * next. So one commit serves many sessions, and one session waits for a single round trip. A session is in one group at a time.
 * `onAppended` is called after each group with its sessions. If the database is away, a group waits for it with some patience
 * before it is refused.
 */
export function createAppendQueue(
  database: Database,
  onAppended: (sessions: readonly SessionId[]) => void,
  patience: Patience,
) {
  let waiting: Waiting[] = []
  let isStarting = false
  const running = new Set<Promise<void>>()
  const onTheWay = new Set<SessionId>()

  function start(): void {
    if (isStarting) return
    isStarting = true
    queueMicrotask(() => {
      isStarting = false // appends of one tick go together
      while (running.size < groupsMax && startGroup());
    })
  }

  /** Sends the next group. Returns false if there is none. */
  function startGroup(): boolean {
    const { group, left } = takeGroup(waiting, onTheWay)
    waiting = left
    if (group.length === 0) return false
    for (const { append } of group) onTheWay.add(append.session)
    const sent = send(group).finally(() => {
      running.delete(sent)
      for (const { append } of group) onTheWay.delete(append.session)
      start()
    })
    running.add(sent)
    return true
  }

  async function send(group: readonly Waiting[]): Promise<void> {
    try {
      const answers = await appendGroup(database, group, patience)
      for (const [index, answer] of answers.entries()) group[index]?.settle(answer)
      onAppended(group.map(({ append }) => append.session))
    } catch (error) {
      for (const { fail } of group) fail(error)
    }
  }

  return {
    append(append: Append): Promise<Result<void>> {
      const { promise, resolve, reject } = Promise.withResolvers<Result<void>>()
      const encoded = JSON.stringify(encodeAppend(append))
      waiting.push({ append, encoded, settle: resolve, fail: reject })
      start()
      return promise
    },
    /** Waits until no append is on its way. */
    async idle(): Promise<void> {
      while (running.size > 0 || waiting.length > 0) await Promise.all([...running])
    },
  }
}

/** Takes the first appends that fit, of sessions that have none on the way, each session once. */
function takeGroup(waiting: readonly Waiting[], onTheWay: ReadonlySet<SessionId>) {
  const [group, left]: [Waiting[], Waiting[]] = [[], []]
  const taken = new Set(onTheWay)
  let chars = 0
  for (const one of waiting) {
    const { session } = one.append
    const fits = group.length < groupMax && (group.length === 0 || chars + one.encoded.length <= groupCharsMax)
    if (fits && !taken.has(session)) {
      group.push(one)
      chars += one.encoded.length
    } else left.push(one)
    taken.add(session)
  }
  return { group, left }
}

const statement = 'select @append($1::jsonb, $2) as answers'

async function appendGroup(
  database: Database,
  group: readonly Waiting[],
  patience: Patience,
): Promise<readonly Result<void>[]> {
  const ask = async (isRetry: boolean): Promise<readonly Result<void>[]> => {
    const changes = `[${group.map(({ encoded }) => encoded).join(',')}]`
    const [row] = await database.write(statement, [changes, isRetry])
    const answers = row?.['answers'] as readonly Refusal[] | undefined // made by the function
    invariant(answers?.length === group.length, 'the database answers every append of a group')
    return group.map(({ append }, index) => toResult(append, answers[index] ?? null))
  }
  try {
    // A lost group may be committed or not. Another connection can tell: it finds the records or does not. An old epoch is
    // refused whenever the database is back, so that waiting risks nothing.
    return await untilBack((attempt) => ask(attempt > 1), isLoss, patience)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const failed = error.toFault()
    // One of them broke the group: append each on its own, so that only that one fails.
    if (failed.code !== 'storage_error' && group.length > 1) {
      const each: Result<void>[] = []
      for (const one of group) each.push(...(await appendGroup(database, [one], patience)))
      return each
    }
    return group.map(() => refuse(failed))
  }
}

const isLoss = (error: unknown): boolean => error instanceof HoldfastError && isLossFault(error.toFault())

function toResult({ session, after, epoch }: Append, refusal: Refusal): Result<void> {
  if (refusal === null) return done
  const { code, current = 0, seq = 0, actual = 0 } = refusal
  switch (code) {
    case 'fenced':
      return refuse(faults.fenced(session, epoch, current))
    case 'command_seen':
      return refuse(faults.commandSeen(seq))
    case 'log_moved':
      return refuse(faults.logMoved(session, after, actual))
    default:
      return refuse(faults.sessionNotFound(session))
  }
}
