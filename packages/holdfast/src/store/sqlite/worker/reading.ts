import type { Result } from '@holdfast/protocol/result'
import { isEarlyQuestion } from '../rows/early-questions.ts'
import type { Question, StoreChange } from '../rows/requests.ts'
import type { createWorkerLink } from './worker-link.ts'

type Link<Request> = Pick<ReturnType<typeof createWorkerLink<Request>>, 'ask' | 'close'>

/** The reader's thread starts once no question was asked or waited for so long; at the latest so long after the first one. */
const startsMs = { quiet: 50, latest: 500 }

/**
 * Asks the reader's thread. To start it takes longer than to open a session, so it starts in the first quiet moment after a
 * program has asked something; until it is up, the writer's thread answers between two groups of changes. If the
 * writer does not answer within half a second, the reader is asked as well; to ask it at once would read each page twice.
 */
export function createReading({
  writer,
  reader,
}: {
  readonly writer: Pick<Link<StoreChange | Question>, 'ask'>
  readonly reader: Link<Question>
}) {
  let thread: 'absent' | 'starting' | 'up' = 'absent'
  let timer: NodeJS.Timeout | undefined
  let latestMs: number | null = null
  let waiting = 0
  const up = Promise.withResolvers<void>()

  function start(): void {
    clearTimeout(timer)
    if (thread !== 'absent') return
    thread = 'starting'
    void reader.ask(['open']).then(() => {
      thread = 'up' // also if it cannot open the file: then it reports that
      up.resolve()
    })
  }

  function startAt(ms: number): void {
    clearTimeout(timer)
    if (thread === 'absent') timer = setTimeout(start, Math.max(0, ms - performance.now())).unref()
  }

  async function askWriter(question: Question): Promise<Result<unknown>> {
    if (isOfOpening(question)) return writer.ask(question)
    latestMs ??= performance.now() + startsMs.latest
    startAt(latestMs)
    waiting += 1
    const { promise, resolve } = Promise.withResolvers<Result<unknown>>()
    let isAnswered = false
    const stuckAtMs = performance.now() + startsMs.latest
    void up.promise.then(async () => {
      const leftMs = stuckAtMs - performance.now()
      if (!isAnswered && leftMs > 0) await new Promise((over) => setTimeout(over, leftMs).unref())
      if (!isAnswered) resolve(await reader.ask(question))
    })
    void writer.ask(question).then(resolve)
    const answer = await promise
    isAnswered = true
    waiting -= 1
    if (waiting === 0) startAt(Math.min(latestMs, performance.now() + startsMs.quiet))
    return answer
  }

  return {
    async ask(question: Question): Promise<Result<unknown>> {
      if (thread !== 'up' && isEarlyQuestion(question)) {
        const answer = await askWriter(question)
        if (answer.ok) return answer
      }
      start()
      return reader.ask(question)
    },
    close(): Promise<void> {
      clearTimeout(timer)
      return reader.close()
    },
  }
}

/** What every process asks when it opens a store: what dead ones left, what has long been in the trash, and all tokens. */
const isOfOpening = ([name, request]: Question): boolean =>
  name === 'busy' || name === 'nodes' || name === 'tokens' || (name === 'list' && request.trashedBefore !== undefined)
