import type { Witness } from './pass-criterion.ts'
import type { Place } from './subject/subject.ts'
import { startWriter, type WriterProcess } from './writer-process.ts'

/** Returns what a writer has reported. If it stopped before its first line, the next writer starts the log. */
export async function heardOf(writer: WriterProcess, place: Place): Promise<readonly Witness[]> {
  const heard = writer.witnesses()
  if (heard.length > 0) return heard
  const next = startWriter({ place, logs: 1, appends: 1 })
  await next.ended()
  return next.witnesses()
}
