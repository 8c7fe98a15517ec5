import type { Usage } from '@holdfast/protocol'
import { type Attributes, createNoopMeter, type Histogram, type Meter, metrics } from '@opentelemetry/api'
import { inputOf, names, scope } from './attributes.ts'

/** Records the duration and token usage of model calls. */
export interface Meters {
  /** Returns whether a metrics SDK is set up. */
  isOn(): boolean
  tokens(usage: Usage, attributes: Attributes): void
  duration(seconds: number, attributes: Attributes): void
  firstChunk(seconds: number, attributes: Attributes): void
}

/** Bounds that the conventions recommend. */
const tokenBounds = Array.from({ length: 14 }, (_, index) => 4 ** index)
const secondBounds = Array.from({ length: 14 }, (_, index) => 2 ** index / 100)

type Instruments = { readonly tokens: Histogram; readonly duration: Histogram; readonly firstChunk: Histogram }

/** Creates the meters. An SDK may be set up later, so the current meter is looked up on each use. */
export function createMeters(): Meters {
  const off = createNoopMeter()
  const made = new WeakMap<Meter, Instruments>()
  const meterNow = () => metrics.getMeter(scope)
  const instruments = (): Instruments => {
    const meter = meterNow()
    const known = made.get(meter) ?? instrumentsOf(meter)
    made.set(meter, known)
    return known
  }
  return {
    isOn: () => meterNow() !== off,
    tokens(usage, attributes) {
      const { tokens } = instruments()
      tokens.record(inputOf(usage), { ...attributes, [names.tokenType]: 'input' })
      tokens.record(usage.output, { ...attributes, [names.tokenType]: 'output' })
    },
    duration: (seconds, attributes) => instruments().duration.record(seconds, attributes),
    firstChunk: (seconds, attributes) => instruments().firstChunk.record(seconds, attributes),
  }
}

const instrumentsOf = (meter: Meter): Instruments => ({
  tokens: meter.createHistogram('gen_ai.client.token.usage', {
    description: 'Number of input and output tokens used',
    unit: '{token}',
    advice: { explicitBucketBoundaries: tokenBounds },
  }),
  duration: meter.createHistogram('gen_ai.client.operation.duration', {
    description: 'Duration of a model call',
    unit: 's',
    advice: { explicitBucketBoundaries: secondBounds },
  }),
  firstChunk: meter.createHistogram('gen_ai.client.operation.time_to_first_chunk', {
    description: 'Time from the start of a model call to the first word of its answer',
    unit: 's',
    advice: { explicitBucketBoundaries: secondBounds },
  }),
})
