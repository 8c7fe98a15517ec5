import { mustOpen } from './open-subject.ts'
import type { SubjectLocation } from './subject/subject.ts'
import { batchAfter, type LogNumber } from './workload.ts'

/** Writes so many appends to a log and closes it. Returns the head after each, beginning with the creation. */
export async function fill(location: SubjectLocation, log: LogNumber, appends: number): Promise<readonly number[]> {
  const subject = await mustOpen(location)
  const heads: number[] = []
  let head = await subject.head(log)
  for (let number = 0; number < appends; number++) {
    const answer = await subject.submit(log, head)
    if (!answer.ok) throw new Error(answer.fault.message)
    head += location.kind === 'blobs' ? 1 : batchAfter(head)
    heads.push(head)
  }
  await subject.close()
  return heads
}
