import { addUsage, type CallId, type EventOf, noUsage, type Seq, type SessionId, type Usage } from '@holdfast/protocol'
import { type Context, isSpanContextValid, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api'
import { finishReasonOf, modelAttributes, names, ownNames, usageAttributes } from './attributes.ts'
import type { Meters } from './meters.ts'
import { endSpan, type ModelCall, startModelCall } from './model-call.ts'

const agent = 'holdfast'

export type SpanDeps = {
  readonly tracer: Tracer
  readonly meters: Meters
  /** A monotonic clock in milliseconds. */
  readonly now: () => number
}

/** A running turn and its open steps and calls. */
export type OpenTurn = {
  readonly parts: SpanDeps
  readonly session: SessionId
  readonly span: Span
  /** The context in which child spans belong to the turn. */
  readonly context: Context
  step: { readonly id: Seq; readonly call: ModelCall } | null
  readonly calls: Map<CallId, Span>
  usage: Usage
}

type Beginning = { readonly session: SessionId; readonly turn: number | undefined; readonly parent: Context }

/** Starts the span of a turn. Returns null if neither traces nor metrics are on. */
export function startTurn(parts: SpanDeps, { session, turn, parent }: Beginning): OpenTurn | null {
  const attributes = { [names.operation]: 'invoke_agent', [names.agent]: agent, [names.conversation]: session }
  const options = { kind: SpanKind.INTERNAL, attributes: { ...attributes, [ownNames.turn]: turn } }
  const span = parts.tracer.startSpan(`invoke_agent ${agent}`, options, parent)
  if (!isSpanContextValid(span.spanContext()) && !parts.meters.isOn()) return null
  const context = trace.setSpan(parent, span)
  return { parts, session, span, context, step: null, calls: new Map(), usage: noUsage }
}

export function startStep(turn: OpenTurn, id: Seq, model: string): void {
  const { parts, session, span, context: parent } = turn
  span.setAttributes(modelAttributes(model).attributes)
  turn.step = { id, call: startModelCall({ ...parts, session, model, parent }) }
}

export function endStep(turn: OpenTurn, { finish, usage, fault, fallback }: EventOf<'step.ended'>): void {
  const reasons = { [names.finishReasons]: [finishReasonOf(finish)] }
  const error = fault?.kind ?? (finish === 'aborted' || finish === 'interrupted' ? finish : undefined)
  turn.step?.call.end({ usage, error, attributes: reasons })
  turn.step = null
  turn.span.setAttributes(reasons)
  if (usage) turn.usage = addUsage(turn.usage, usage)
  if (fallback !== undefined) turn.span.addEvent('holdfast.fallback', modelAttributes(fallback).attributes)
}

/** The context in which child spans belong to this one. */
export function startCall({ parts, session, context, calls }: OpenTurn, call: CallId, tool: string): Context {
  const attributes = {
    [names.operation]: 'execute_tool',
    [names.toolName]: tool,
    [names.toolType]: 'function',
    [names.toolCallId]: `c${call}`, // as the model knows it
    [names.conversation]: session,
  }
  const span = parts.tracer.startSpan(`execute_tool ${tool}`, { kind: SpanKind.INTERNAL, attributes }, context)
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
