import { HoldfastError, invariant, type ModelFault } from '@holdfast/protocol'
import { isWindowEvent } from '../../context/window.ts'
import type { ModelRequest } from '../../ports/provider.ts'
import type { RequestAsked } from '../../ports/request-builder.ts'
import type { EncodedRecord } from '../../ports/store/log.ts'
import type { EffectOf } from '../../session/plan.ts'
import type { SessionState } from '../../session/state.ts'
import type { EarlyStart, EffectDeps } from '../dependencies.ts'
import { logDamaged, WindowDamaged } from '../log/read-window.ts'
import { NotHeld } from '../log/recent-records.ts'
import type { ContextBlobs } from './prepare-step.ts'
import { createRequestBuilder } from './request-builder.ts'

/** Whether a batch of records changes what the model sees. If not, a request can be built before they are durable. */
export const changesWindow = (records: readonly EncodedRecord[]): boolean =>
  records.some(({ record: { event } }) => isWindowEvent(event) || event.type === 'checkpoint.written')

/**
 * Builds the request of a step from records and blobs, or returns why it cannot. A short conversation is built from the records
 * that are held here, also from those that are still being written; a long one once they are durable, on another thread.
 */
export async function requestForStep(
  { session, requests, recent }: Pick<EffectDeps, 'session' | 'requests' | 'recent'>,
  { context, line, seq, checkpoint, pins, origin }: SessionState,
  {
    model,
    thinkingLevel,
    takes,
  }: Omit<EffectOf<'call-model'>, 'step'> & { readonly takes?: readonly string[] | undefined },
  contextBlobs: ContextBlobs,
  writing?: EarlyStart['writing'],
): Promise<{ readonly request: ModelRequest } | { readonly fault: ModelFault }> {
  invariant(context, 'a step begins with its context on record')
  try {
    const [system, tools] = await Promise.all([
      contextBlobs.read(context.system),
      contextBlobs.readTools(context.tools),
    ])
    const window = { session, line, seq, checkpoint, pins, providerOptions: origin?.providerOptions }
    const asked = { ...window, model, thinkingLevel, system, tools, takes }
    const built = await buildFromRecent(recent.logOf(session, writing?.records ?? []), asked)
    if (built === null) await writing?.written
    return { request: built ?? (await requests.build(asked)) }
  } catch (cause) {
    if (cause instanceof WindowDamaged) return { fault: asModelFault(logDamaged(session, [cause.seq])) }
    if (cause instanceof HoldfastError) return { fault: asModelFault(cause) }
    throw cause
  }
}

/** Builds a request from held records alone; null if it needs others, or files. */
async function buildFromRecent(
  log: ReturnType<EffectDeps['recent']['logOf']>,
  asked: RequestAsked,
): Promise<ModelRequest | null> {
  if (log === null) return null
  let hasFiles = false
  const open = async () => {
    hasFiles = true // they would be missing in the request
    return null
  }
  try {
    const built = await createRequestBuilder(log, { open }).build(asked)
    return hasFiles ? null : built
  } catch (cause) {
    if (cause instanceof NotHeld) return null
    throw cause
  }
}

const asModelFault = ({ message }: { readonly message: string }): ModelFault => ({ kind: 'passthrough', message })
