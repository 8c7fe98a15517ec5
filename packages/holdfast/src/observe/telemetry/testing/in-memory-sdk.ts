import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'

/** OpenTelemetry's own SDK, as a program would set it up, keeping everything in memory. */
export interface InMemorySdk {
  /** The spans that have ended, in that order. */
  spans(): readonly ReadableSpan[]
  /** Returns the values measured under a name. */
  points(name: string): Promise<readonly DataPoint<Histogram>[]>
  close(): void
}

export function startInMemorySdk(): InMemorySdk {
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: measured })
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  return {
    spans: () => exporter.getFinishedSpans(),
    async points(name) {
      await reader.forceFlush()
      const all =
        measured
          .getMetrics()
          .at(-1)
          ?.scopeMetrics.flatMap((one) => one.metrics) ?? []
      const found = all.find(({ descriptor }) => descriptor.name === name)
      return (found?.dataPoints ?? []) as readonly DataPoint<Histogram>[] // all that we measure are histograms
    },
    close() {
      trace.disable()
      context.disable()
      metrics.disable()
    },
  }
}
