import { writevSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from '@holdfast/protocol'
import { openSubject } from './open-subject.ts'
import type { Place, Subject } from './subject/subject.ts'
import { batchAfter, type LogNumber } from './workload.ts'

/** What a writer in a process of its own is to do. It says what it submits, and what was acknowledged, on its stdout. */
export type WriterTask = {
  readonly place: Place
  /** Logs 1 to `logs` are written at the same time. */
  readonly logs: number
  /** How many appends to each; without it, for as long as it lives. */
  readonly appends?: number
  /** How often a refused append is tried again before the writer gives up. */
  readonly triesMax?: number
  /** Holds on to so much memory with each append. */
  readonly leakBytes?: number
}

const retryAfterMs = 20

/** In two pieces, so that it is a `writev`: an injected fault of `write` must hit the store, never the witness. */
function say(...words: readonly (string | number)[]): void {
  for (;;)
    try {
      writevSync(1, [Buffer.from(words.join(' ')), Buffer.from('\n')])
      return
    } catch (error) {
      // Whoever listens is behind: a short line is taken whole or not at all.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
}

const task: WriterTask = JSON.parse(process.argv[2] ?? '')
const { place, logs, appends = Number.POSITIVE_INFINITY, triesMax = 0, leakBytes = 0 } = task
const leaked: number[][] = []
const numbers = Array.from({ length: logs }, (_, index) => index + 1)

/** Opens it, again and again as long as tries are left: what refuses may be what is being tested. */
async function openPatiently(): Promise<Subject | null> {
  for (let tries = 0; ; tries++) {
    const sinceMs = performance.now()
    const opened = await openSubject(place)
    if (opened.ok) return opened.value
    tellRefusal(0, 0, opened.fault, sinceMs)
    if (tries >= triesMax) return null
    await delay(retryAfterMs)
  }
}

async function write(subject: Subject, log: LogNumber): Promise<void> {
  let head = await subject.head(log)
  for (let number = 0, tries = 0; number < appends; ) {
    const upTo = head + (place.kind === 'blobs' ? 1 : batchAfter(head))
    say('try', log, upTo)
    const sinceMs = performance.now()
    const answer = await subject.submit(log, head)
    if (answer.ok) {
      say('ack', log, upTo)
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
    // A refused append may have got there all the same.
    head = await subject.head(log).catch(() => head)
  }
}

function tellRefusal(log: LogNumber, upTo: number, fault: Fault, sinceMs: number): void {
  say('no', log, upTo, Math.round(performance.now() - sinceMs), JSON.stringify(fault))
}

const subject = await openPatiently()
if (subject !== null) {
  say('open')
  await Promise.all(numbers.map((log) => write(subject, log)))
  await subject.close()
  say('end')
}
