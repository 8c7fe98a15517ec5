import type { Append } from '@holdfast/core/ports'
import type { Result, SessionId } from '@holdfast/protocol'

/** Whoever changes a session waits for its turn; appends that came meanwhile take theirs together. */
export interface SessionQueue {
  append(append: Append): Promise<Result<void>>
  alone<Value>(session: SessionId, work: () => Promise<Value>): Promise<Value>
  isIdle(session: SessionId): boolean
  /** Resolves when nothing is under way any more. */
  settled(): Promise<void>
}

type Waiting =
  | { readonly type: 'append'; readonly append: Append; readonly answer: PromiseWithResolvers<Result<void>> }
  | { readonly type: 'alone'; readonly work: () => Promise<void> }

type WaitingAppend = Extract<Waiting, { readonly type: 'append' }>

/** `appendGroup` answers in the order it was asked, once all it took is durable. */
export function createSessionQueue(
  appendGroup: (session: SessionId, group: readonly Append[]) => Promise<readonly Result<void>[]>,
): SessionQueue {
  const queues = new Map<SessionId, Waiting[]>()
  const running = new Map<SessionId, Promise<void>>()

  function enter(session: SessionId, waiting: Waiting): void {
    const queue = queues.get(session)
    if (queue !== undefined) {
      queue.push(waiting)
      return
    }
    queues.set(session, [waiting])
    running.set(session, run(session))
  }

  async function run(session: SessionId): Promise<void> {
    await null // those who ask in the same breath are one group
    for (;;) {
      const queue = queues.get(session) ?? []
      const first = queue[0]
      if (first === undefined) break
      if (first.type === 'alone') {
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
      const answers = await appendGroup(
        session,
        group.map(({ append }) => append),
      )
      for (const [index, { answer }] of group.entries()) {
        const given = answers[index]
        if (given === undefined) answer.reject(new Error('an append was not answered'))
        else answer.resolve(given)
      }
    } catch (cause) {
      for (const { answer } of group) answer.reject(cause)
    }
  }

  return {
    append(append) {
      const answer = Promise.withResolvers<Result<void>>()
      enter(append.session, { type: 'append', append, answer })
      return answer.promise
    },
    alone(session, work) {
      return new Promise((resolve, reject) => {
        enter(session, { type: 'alone', work: () => work().then(resolve, reject) })
      })
    },
    isIdle: (session) => !queues.has(session),
    async settled() {
      while (running.size > 0) await Promise.all(running.values())
    },
  }
}

/** The appends that stand first. One that changes trust goes alone: the file of trusts names the record that decides. */
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
