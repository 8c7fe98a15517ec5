import { HoldfastError, invariant, type ModelFault } from '@holdfast/protocol'
import type { ModelRequest, ToolSchema } from '../../ports/provider.ts'
import type { Effect } from '../../session/plan.ts'
import type { EffectDeps } from '../dependencies.ts'
import { WindowDamaged } from '../log/read-window.ts'
import type { ContextBlobs } from './context-blobs.ts'
import { logDamaged } from './window-damage.ts'

/** The request, from records and blobs alone; or why there is none. */
export async function requestForStep(
  parts: EffectDeps,
  { model, thinkingLevel }: Extract<Effect, { type: 'call-model' }>,
  told: ContextBlobs,
  takes: readonly string[] | undefined,
): Promise<{ readonly request: ModelRequest } | { readonly fault: ModelFault }> {
  const { session, requests } = parts
  const { context, line, seq, checkpoint, pins, origin } = parts.state()
  invariant(context, 'a step begins with its context on record')
  const place = { session, line, seq, checkpoint, pins }
  const providerOptions = origin?.providerOptions
  try {
    const [system, schemas] = await Promise.all([told.read(context.system), told.read(context.tools)])
    const tools: readonly ToolSchema[] = JSON.parse(schemas) // our own JSON, named by its hash
    const asked = { ...place, model, thinkingLevel, system, tools, takes, providerOptions }
    return { request: await requests.build(asked) }
  } catch (cause) {
    if (cause instanceof WindowDamaged) return { fault: asModelFault(logDamaged(session, [cause.seq])) }
    if (cause instanceof HoldfastError) return { fault: asModelFault(cause) }
    throw cause
  }
}

const asModelFault = ({ message }: { readonly message: string }): ModelFault => ({ kind: 'passthrough', message })
