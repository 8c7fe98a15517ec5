import { ok, type Result, type Seq, type SessionId } from '@holdfast/protocol'
import { createReader } from '../../../packages/holdfast/src/store/sqlite/read/reader.ts'
import { encodeAppend, encodeNew } from '../../../packages/holdfast/src/store/sqlite/rows/encode-changes.ts'
import { unpackPage } from '../../../packages/holdfast/src/store/sqlite/rows/packed-page.ts'
import { createWriter, type Writer } from '../../../packages/holdfast/src/store/sqlite/write/writer.ts'
import { decodeRecord } from '../../../packages/holdfast/src/store/stored-record.ts'
import { appendTo, digestOf, type LogNumber, newSessionOf, sessionOf, writerNode } from '../workload.ts'
import type { Read, Subject } from './subject.ts'

/** Runs the writer and the reader of the SQLite store on this thread, for rows that open it thousands of times. */
export function openInlineSubject(path: string, writer: Writer = createWriter({ path })): Result<Subject> {
  const opened = writer.run([['open']])[0]
  if (opened !== undefined && !opened.ok) {
    writer.close()
    return opened
  }
  const reader = createReader(path)
  const epochs = new Map<LogNumber, number>()
  const answerOf = <Value>(answers: readonly Result<unknown>[]) => answers[0] as Result<Value> // one change was made

  function submit(log: LogNumber, head: number): Result<void> {
    const session = sessionOf(log)
    if (head === 0) {
      const created = answerOf<void>(writer.run([encodeNew(newSessionOf(log))]))
      if (created.ok) epochs.set(log, 1)
      return created
    }
    let epoch = epochs.get(log)
    if (epoch === undefined) {
      const claim = ['claim', session, writerNode, writerNode] as const
      const lease = answerOf<{ readonly epoch: number; readonly head: Seq }>(writer.run([claim]))
      if (!lease.ok) return lease
      epoch = lease.value.epoch
      epochs.set(log, epoch)
    }
    return answerOf<void>(writer.run([encodeAppend(appendTo(log, head, epoch))]))
  }

  async function page(session: SessionId, after: number, limit: number): Promise<readonly Read[]> {
    const records = reader.ask('read', session, { after, limit })
    if (!records.ok) throw new Error(records.fault.message)
    return unpackPage(records.value)
      .map(decodeRecord)
      .map((record) => ('lost' in record ? 'lost' : digestOf(record)))
  }

  return ok({
    page,
    submit: async (log, head) => submit(log, head),
    read: (log) => page(sessionOf(log), 0, 1_000_000),
    async head(log) {
      const row = reader.ask('entry', sessionOf(log))
      if (!row.ok) throw new Error(row.fault.message)
      return row.value?.head ?? 0
    },
    async close() {
      reader.close()
      writer.close()
    },
  })
}
