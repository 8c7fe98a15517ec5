import {
  type CallId,
  fault,
  limits,
  ModelName,
  ok,
  type Result,
  refuse,
  type SessionId,
  type Subagent,
} from '@holdfast/protocol'
import type { SubagentRequest } from '../../ports/guidance.ts'
import type { EffectDeps } from '../dependencies.ts'
import { findOffered } from '../effects/offered-tools.ts'
import type { SubagentHost } from './host.ts'
import { firstEvents, type Inheritance, pickTools, remainingBudgets } from './inherit.ts'
import type { Trees } from './trees.ts'

/** A subagent that may start, and what the model should know of it. */
export type AdmittedChild = Inheritance & { readonly notes: readonly string[] }

/** Returns what a session is in its tree, for a subagent that it would start. */
export function placeBelow(session: SessionId, subagent: Subagent | null): Pick<Subagent, 'root' | 'depth'> {
  return { root: subagent?.root ?? session, depth: (subagent?.depth ?? 0) + 1 }
}

/** Checks whether a call may start a subagent, and finds out what it inherits. Refusals tell the model what to do. */
export async function admitChild(
  trees: Trees,
  deps: EffectDeps,
  call: CallId,
  request: SubagentRequest,
): Promise<Result<AdmittedChild>> {
  const state = deps.state()
  const { origin, settings } = state
  if (!origin) return refuse(fault('bad_request', 'Only a started session has subagents.'))
  const place = placeBelow(deps.session, origin.subagent)
  if (request.task.length > limits.taskCharsMax)
    return refuse(fault('too_large', `A task has at most ${limits.taskCharsMax} characters.`))
  const model = chooseModel(deps, request)
  if (!model.ok) return model
  const named = [...(request.tools ?? []), ...(request.withoutTools ?? [])]
  const offered = (await findOffered(deps.tools, origin, settings, named)).map(({ schema }) => schema.name)
  const tools = pickTools(offered, request)
  if (tools?.length === 0)
    return refuse(
      fault('bad_request', `The agent ${request.agent} names no tool that is offered here. Use another one.`),
    )
  const spent = await trees.used(place.root)
  const notes =
    request.agentModel !== undefined && request.model === undefined && model.value !== request.agentModel
      ? [
          `The agent ${request.agent} asks for the model ${request.agentModel}, which cannot be called. ${model.value} was used.`,
        ]
      : []
  const budgets = trees.budgets(place.root) ?? settings.budgets
  return ok({
    parent: deps.session,
    state,
    request,
    notes,
    subagent: { ...place, call, agent: request.agent },
    model: model.value,
    tools: tools ?? origin.tools,
    budgets: remainingBudgets(budgets, spent),
  })
}

function chooseModel(deps: EffectDeps, { model, agentModel }: SubagentRequest): Result<ModelName> {
  const own = deps.state().settings.model
  const isReady = (name: string) => {
    const parsed = ModelName.safeParse(name)
    return parsed.success && deps.models.find(parsed.data).type === 'ready' ? parsed.data : null
  }
  if (model === undefined) return ok((agentModel === undefined ? null : isReady(agentModel)) ?? own)
  const chosen = isReady(model)
  if (chosen) return ok(chosen)
  const message = `The model ${model} cannot be called. Leave out model to use ${own}.`
  return refuse(fault('unknown_model', message, { model }))
}

/** Creates the session of a subagent and gives it its task. Its start is on record in the parent. */
export async function beginChild(host: SubagentHost, child: SessionId, admitted: AdmittedChild): Promise<Result<null>> {
  const created = await host.create(child, (handle) => firstEvents(admitted, handle))
  if (!created.ok) return created
  const runner = await host.load(child)
  if (!runner.ok) return runner
  const { request, state } = admitted
  const given = await runner.value.report({ type: 'task.given', task: request.task, payer: state.payer })
  return given.ok ? ok(null) : given
}
