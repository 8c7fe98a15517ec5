import {
  addUsage,
  type CallId,
  type EventOf,
  type ModelName,
  noUsage,
  type Seq,
  type SessionId,
  type Usage,
} from '@holdfast/protocol'
import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { finishReasons, modelAttributes, names, ownNames, usageAttributes } from './attributes.ts'
import type { Meters } from './meters.ts'

const agent = 'holdfast'

type SpanDeps = { readonly tracer: Tracer; readonly meters: Meters }

/** A running turn and its open steps and calls. */
export type OpenTurn = {
  readonly deps: SpanDeps
  readonly session: SessionId
  readonly span: Span
  /** The context in which child spans belong to the turn. */
  readonly context: Context
  step: { readonly id: Seq; readonly call: ModelCall } | null
  readonly calls: Map<CallId, Span>
  usage: Usage
}

type TurnStart = { readonly session: SessionId; readonly turn: number | undefined; readonly parent: Context }

/** Starts the span of a turn. Returns null if neither traces nor metrics are on. */
export function startTurn(deps: SpanDeps, { session, turn, parent }: TurnStart): OpenTurn | null {
  const attributes = { [names.operation]: 'invoke_agent', [names.agent]: agent, [names.conversation]: session }
  const options = { kind: SpanKind.INTERNAL, attributes: { ...attributes, [ownNames.turn]: turn } }
  const span = deps.tracer.startSpan(`invoke_agent ${agent}`, options, parent)
  if (!isSpanContextValid(span.spanContext()) && !deps.meters.isOn()) return null
  const context = trace.setSpan(parent, span)
  return { deps, session, span, context, step: null, calls: new Map(), usage: noUsage }
}

export function startStep(turn: OpenTurn, id: Seq, model: string): void {
  const { deps, session, span, context: parent } = turn
  span.setAttributes(modelAttributes(model).attributes)
  turn.step?.call.end({ error: 'interrupted' }) // its start was never recorded
  turn.step = { id, call: startModelCall({ ...deps, session, model, parent }) }
}

export function endStep(turn: OpenTurn, { finish, usage, fault, fallback }: EventOf<'step.ended'>): void {
  const reasons = { [names.finishReasons]: [finishReasons[finish]] }
  const error = fault?.kind ?? (finish === 'aborted' || finish === 'interrupted' ? finish : undefined)
  turn.step?.call.end({ usage, error, attributes: reasons })
  turn.step = null
  turn.span.setAttributes(reasons)
  if (usage) turn.usage = addUsage(turn.usage, usage)
  if (fallback !== undefined) turn.span.addEvent('holdfast.fallback', modelAttributes(fallback).attributes)
}

/** Starts the span of a tool call and returns the context for its child spans. */
export function startCall({ deps, session, context, calls }: OpenTurn, call: CallId, tool: string): Context {
  const attributes = {
    [names.operation]: 'execute_tool',
    [names.toolName]: tool,
    [names.toolType]: 'function',
    [names.toolCallId]: `c${call}`, // as the model knows it
    [names.conversation]: session,
  }
  const span = deps.tracer.startSpan(`execute_tool ${tool}`, { kind: SpanKind.INTERNAL, attributes }, context)
  calls.set(call, span)
  return trace.setSpan(context, span)
}

export function settleCall({ calls }: OpenTurn, { call, outcome }: EventOf<'call.settled'>): void {
  const span = calls.get(call)
  if (!span) return // it did not run here
  calls.delete(call)
  endSpan(span, callError(outcome))
}

export function endTurn(turn: OpenTurn, reason: EventOf<'turn.ended'>['reason'], error?: string): void {
  turn.step?.call.end({ error: 'interrupted' })
  for (const span of turn.calls.values()) endSpan(span, 'interrupted')
  turn.span.setAttributes({ ...usageAttributes(turn.usage), [ownNames.turnEnd]: reason })
  endSpan(turn.span, error ?? (reason === 'done' || reason === 'limit' ? undefined : reason))
}

function callError(outcome: EventOf<'call.settled'>['outcome']): string | undefined {
  switch (outcome.type) {
    case 'ok':
      return undefined
    case 'failed':
      return 'tool_failed'
    case 'denied':
    case 'interrupted':
      return outcome.code
  }
}

export type ModelCallEnd = {
  readonly usage?: Usage | null | undefined
  /** Why the call failed. */
  readonly error?: string | undefined
  readonly attributes?: Attributes | undefined
}

type ModelCallStart = SpanDeps & { readonly session: SessionId; readonly model: ModelName; readonly parent: Context }

export type ModelCall = ReturnType<typeof startModelCall>

/** Starts the `chat` span and the metrics of a model call. */
export function startModelCall({ tracer, meters, session, model, parent }: ModelCallStart) {
  const { model: name, attributes } = modelAttributes(model)
  const measured: Attributes = { [names.operation]: 'chat', ...attributes }
  const all = { ...measured, [names.conversation]: session, [names.requestStream]: true }
  const span = tracer.startSpan(`chat ${name}`, { kind: SpanKind.CLIENT, attributes: all }, parent)
  const startedMs = performance.now()
  const seconds = () => (performance.now() - startedMs) / 1000
  return {
    span,
    /** The context in which child spans belong to this one. */
    context: trace.setSpan(parent, span),
    /** Notes that the first part of the answer arrived. */
    answering() {
      const passed = seconds()
      span.setAttribute(names.timeToFirstChunk, passed)
      meters.firstChunk(passed, measured)
    },
    end({ usage, error, attributes: more = {} }: ModelCallEnd) {
      span.setAttributes({ ...more, ...(usage && usageAttributes(usage)) })
      if (usage) meters.tokens(usage, measured)
      meters.duration(seconds(), error === undefined ? measured : { ...measured, [names.errorType]: error })
      endSpan(span, error)
    },
  }
}

/** Ends a span. Records only the kind of an error: its message may quote the conversation. */
function endSpan(span: Span, error: string | undefined): void {
  if (error !== undefined) span.setAttribute(names.errorType, error).setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

/** Runs a function with `within` as the active context. */
export const runWithin = <Value>(within: Context | undefined, run: () => Value): Value =>
  within ? context.with(within, run) : run()
