import type { Append } from '@holdfast/core/ports'
import type { Result, SessionId } from '@holdfast/protocol'

type Waiting =
  | { readonly type: 'append'; readonly append: Append; readonly answer: PromiseWithResolvers<Result<void>> }
  | { readonly type: 'exclusive'; readonly work: () => Promise<void> }

type WaitingAppend = Extract<Waiting, { readonly type: 'append' }>

/**
 * Serializes the changes of each session. Appends that wait at the same time are written as one group: `appendGroup`
 * returns their results in order, once all accepted appends are durable.
 */
export function createSessionQueue(
  appendGroup: (session: SessionId, group: readonly Append[]) => Promise<readonly Result<void>[]>,
) {
  const queues = new Map<SessionId, Waiting[]>()
  const running = new Map<SessionId, Promise<void>>()

  function enter(session: SessionId, waiting: Waiting): void {
    if (queues.get(session)?.push(waiting)) return
    queues.set(session, [waiting])
    running.set(session, run(session))
  }

  async function run(session: SessionId): Promise<void> {
    await null // appends queued in the same tick form one group
    for (;;) {
      const queue = queues.get(session) ?? []
      const first = queue[0]
      if (first === undefined) break
      if (first.type === 'exclusive') {
        queue.shift()
        await first.work()
      } else {
        await appendAll(session, takeGroup(queue))
      }
    }
    queues.delete(session)
    running.delete(session)
  }

  async function appendAll(session: SessionId, group: readonly WaitingAppend[]): Promise<void> {
    try {
      const appends = group.map(({ append }) => append)
      const answers = await appendGroup(session, appends)
      for (const [index, { answer }] of group.entries()) {
        const result = answers[index]
        if (result === undefined) answer.reject(new Error('an append got no result'))
        else answer.resolve(result)
      }
    } catch (cause) {
      for (const { answer } of group) answer.reject(cause)
    }
  }

  return {
    append(append: Append): Promise<Result<void>> {
      const answer = Promise.withResolvers<Result<void>>()
      enter(append.session, { type: 'append', append, answer })
      return answer.promise
    },
    /** Runs `work` while nothing else changes the session. */
    runExclusive<Value>(session: SessionId, work: () => Promise<Value>): Promise<Value> {
      return new Promise((resolve, reject) => {
        enter(session, { type: 'exclusive', work: () => work().then(resolve, reject) })
      })
    },
    isIdle: (session: SessionId): boolean => !queues.has(session),
    /** Resolves when nothing is queued or running. */
    async settled(): Promise<void> {
      while (running.size > 0) await Promise.all(running.values())
    },
  }
}

/** Takes the appends at the front. One that changes trust forms its own group: the trust file names its last record. */
function takeGroup(queue: Waiting[]): readonly WaitingAppend[] {
  const group: WaitingAppend[] = []
  for (let next = queue[0]; next?.type === 'append'; next = queue[0]) {
    const changesTrust = next.append.trust.length > 0
    if (changesTrust && group.length > 0) break
    group.push(next)
    queue.shift()
    if (changesTrust) break
  }
  return group
}
