import { type Folded, fold } from '@holdfast/core'
import type { Blobs, Log, RequestAsked, ToolSchema } from '@holdfast/core/ports'
import { type BlobHash, invariant, type Recorded, type SessionId } from '@holdfast/protocol'
import { readBlob } from '../../packages/core/src/runtime/blobs/read-blob.ts'

/** Reads the records of a session after `base`. */
export async function recordsOf(log: Pick<Log, 'read'>, session: SessionId, base = 0): Promise<readonly Recorded[]> {
  const records: Recorded[] = []
  for (;;) {
    const page = await log.read(session, { after: records.at(-1)?.seq ?? base, limit: 1000 })
    for (const record of page) {
      invariant(!('lost' in record), 'nothing is lost')
      records.push(record)
    }
    if (page.length < 1000) return records
  }
}

/** Returns the input of each step's request, from the log alone. */
export async function listStepInputs(
  session: SessionId,
  records: readonly Recorded[],
  blobs: Blobs,
): Promise<readonly RequestAsked[]> {
  const asked: RequestAsked[] = []
  const textOf = async (hash: BlobHash) => Buffer.from((await readBlob(blobs, hash)) ?? []).toString()
  let folded: Folded | null = null
  for (const record of records) {
    folded = fold(folded, session, record)
    const { state } = folded
    if (record.event.type !== 'step.started') continue
    invariant(state.context, 'a step begins with its context on record')
    const tools: readonly ToolSchema[] = JSON.parse(await textOf(state.context.tools)) // our own JSON
    const { line, seq, checkpoint, pins, origin } = state
    asked.push({
      session,
      line,
      seq,
      checkpoint,
      pins,
      model: record.event.model,
      thinkingLevel: record.event.thinkingLevel,
      system: await textOf(state.context.system),
      tools,
      providerOptions: origin?.providerOptions,
    })
  }
  return asked
}
