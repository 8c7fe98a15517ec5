import type { ModelName, SessionId, Usage } from '@holdfast/protocol'
import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { modelAttributes, names, usageAttributes } from './attributes.ts'
import type { Meters } from './meters.ts'

/** One model call: its `chat` span and its metrics. */
export interface ModelCall {
  readonly span: Span
  /** The context in which child spans belong to this one. */
  readonly context: Context
  /** Notes that the first part of the answer arrived. */
  answering(): void
  end(ended: ModelCallEnd): void
}

export type ModelCallEnd = {
  readonly usage?: Usage | null | undefined
  /** Why the call failed. */
  readonly error?: string | undefined
  readonly attributes?: Attributes | undefined
}

export type ModelCallDeps = {
  readonly tracer: Tracer
  readonly meters: Meters
  readonly session: SessionId
  readonly model: ModelName
  readonly parent: Context
  /** A monotonic clock in milliseconds. */
  readonly now: () => number
}

export function startModelCall({ tracer, meters, session, model, parent, now }: ModelCallDeps): ModelCall {
  const { model: name, attributes } = modelAttributes(model)
  const measured: Attributes = { [names.operation]: 'chat', ...attributes }
  const span = tracer.startSpan(
    `chat ${name}`,
    {
      kind: SpanKind.CLIENT,
      attributes: { ...measured, [names.conversation]: session, [names.requestStream]: true },
    },
    parent,
  )
  const startedMs = now()
  const seconds = () => (now() - startedMs) / 1000
  return {
    span,
    context: trace.setSpan(parent, span),
    answering() {
      const passed = seconds()
      span.setAttribute(names.timeToFirstChunk, passed)
      meters.firstChunk(passed, measured)
    },
    end({ usage, error, attributes: more = {} }) {
      span.setAttributes({ ...more, ...(usage && usageAttributes(usage)) })
      if (usage) meters.tokens(usage, measured)
      meters.duration(seconds(), error === undefined ? measured : { ...measured, [names.errorType]: error })
      endSpan(span, error)
    },
  }
}

/** Ends a span. Records only the kind of an error: its message may quote the conversation. */
export function endSpan(span: Span, error: string | undefined): void {
  if (error !== undefined) span.setAttribute(names.errorType, error).setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

/** Runs a function with `within` as the active context. */
export const runWithin = <Value>(within: Context | undefined, run: () => Value): Value =>
  within ? context.with(within, run) : run()
