import type { Witness } from './pass-criterion.ts'
import type { SubjectLocation } from './subject/subject.ts'
import { startWriter, type WriterProcess } from './writer-process.ts'

/** Returns what a writer has reported. If it stopped before its first line, the next writer starts the log. */
export async function readWitnesses(writer: WriterProcess, location: SubjectLocation): Promise<readonly Witness[]> {
  const witnesses = writer.witnesses()
  if (witnesses.length > 0) return witnesses
  const next = startWriter({ location, logs: 1, appends: 1 })
  await next.ended()
  return next.witnesses()
}
