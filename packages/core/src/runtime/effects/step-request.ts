import { HoldfastError, invariant, type ModelFault } from '@holdfast/protocol'
import { isWindowEvent } from '../../context/window.ts'
import type { ModelRequest } from '../../ports/provider.ts'
import type { EncodedRecord } from '../../ports/store/log.ts'
import type { EffectOf } from '../../session/plan.ts'
import type { SessionState } from '../../session/state.ts'
import type { EffectDeps } from '../dependencies.ts'
import { logDamaged, WindowDamaged } from '../log/read-window.ts'
import type { ContextBlobs } from './prepare-step.ts'

/** Whether a batch of records changes what the model sees. If not, a request can be built before they are durable. */
export const changesWindow = (records: readonly EncodedRecord[]): boolean =>
  records.some(({ record: { event } }) => isWindowEvent(event) || event.type === 'checkpoint.written')

/** Builds the request of a step from records and blobs, or returns why it cannot. */
export async function requestForStep(
  { session, requests }: Pick<EffectDeps, 'session' | 'requests'>,
  { context, line, seq, checkpoint, pins, origin }: SessionState,
  {
    model,
    thinkingLevel,
    takes,
  }: Omit<EffectOf<'call-model'>, 'step'> & { readonly takes?: readonly string[] | undefined },
  contextBlobs: ContextBlobs,
): Promise<{ readonly request: ModelRequest } | { readonly fault: ModelFault }> {
  invariant(context, 'a step begins with its context on record')
  try {
    const [system, tools] = await Promise.all([
      contextBlobs.read(context.system),
      contextBlobs.readTools(context.tools),
    ])
    const window = { session, line, seq, checkpoint, pins, providerOptions: origin?.providerOptions }
    return { request: await requests.build({ ...window, model, thinkingLevel, system, tools, takes }) }
  } catch (cause) {
    if (cause instanceof WindowDamaged) return { fault: asModelFault(logDamaged(session, [cause.seq])) }
    if (cause instanceof HoldfastError) return { fault: asModelFault(cause) }
    throw cause
  }
}

const asModelFault = ({ message }: { readonly message: string }): ModelFault => ({ kind: 'passthrough', message })
