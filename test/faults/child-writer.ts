import { writevSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from '@holdfast/protocol'
import { openSubject } from './open-subject.ts'
import type { Subject, SubjectLocation } from './subject/subject.ts'
import { batchAfter, type LogNumber } from './workload.ts'

/** The task of a writer process. It prints what it submits and what was acknowledged. */
export type WriterTask = {
  readonly location: SubjectLocation
  /** Writes logs 1 to `logs` at the same time. */
  readonly logs: number
  /** The number of appends to each log; unlimited if absent. */
  readonly appends?: number
  /** How many times a refused append is retried. */
  readonly triesMax?: number
  /** Leaks this much memory with each append. */
  readonly leakBytes?: number
}

const retryAfterMs = 20

/** Writes in two pieces, so that it is a `writev`: an injected fault of `write` must hit the store, not this output. */
function print(...words: readonly (string | number)[]): void {
  for (;;)
    try {
      writevSync(1, [Buffer.from(words.join(' ')), Buffer.from('\n')])
      return
    } catch (error) {
      // The reader is slow; a short line is written completely or not at all.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
}

const task: WriterTask = JSON.parse(process.argv[2] ?? '')
const { location, logs, appends = Number.POSITIVE_INFINITY, triesMax = 0, leakBytes = 0 } = task
const leaked: number[][] = []
const numbers = Array.from({ length: logs }, (_, index) => index + 1)

/** Opens the store, with retries: the fault under test may refuse it at first. */
async function openPatiently(): Promise<Subject | null> {
  for (let tries = 0; ; tries++) {
    const sinceMs = performance.now()
    const opened = await openSubject(location)
    if (opened.ok) return opened.value
    tellRefusal(0, 0, opened.fault, sinceMs)
    if (tries >= triesMax) return null
    await delay(retryAfterMs)
  }
}

async function write(subject: Subject, log: LogNumber): Promise<void> {
  let head = await subject.head(log)
  for (let number = 0, tries = 0; number < appends; ) {
    const upTo = head + (location.kind === 'blobs' ? 1 : batchAfter(head))
    print('try', log, upTo)
    const sinceMs = performance.now()
    const answer = await subject.submit(log, head)
    if (answer.ok) {
      print('ack', log, upTo)
      head = upTo
      number += 1
      tries = 0
      if (leakBytes > 0) leaked.push(Array.from({ length: leakBytes / 8 }, () => Math.random()))
      continue
    }
    tellRefusal(log, upTo, answer.fault, sinceMs)
    if (tries >= triesMax) return
    tries += 1
    await delay(retryAfterMs)
    // A refused append may have been written all the same.
    head = await subject.head(log).catch(() => head)
  }
}

function tellRefusal(log: LogNumber, upTo: number, fault: Fault, sinceMs: number): void {
  print('no', log, upTo, Math.round(performance.now() - sinceMs), JSON.stringify(fault))
}

const subject = await openPatiently()
if (subject !== null) {
  print('open')
  await Promise.all(numbers.map((log) => write(subject, log)))
  await subject.close()
  print('end')
}
