import type { Usage } from '@holdfast/protocol'
import { type Attributes, createNoopMeter, type Meter, metrics } from '@opentelemetry/api'
import { inputOf, names, scope } from './attributes.ts'

export type Meters = ReturnType<typeof createMeters>

/** Bounds that the conventions recommend. */
const tokenBounds = Array.from({ length: 14 }, (_, index) => 4 ** index)
const secondBounds = Array.from({ length: 14 }, (_, index) => 2 ** index / 100)

/** Measures model calls. An SDK may be set up later, so the current meter is looked up on each use. */
export function createMeters() {
  const off = createNoopMeter()
  const made = new WeakMap<Meter, ReturnType<typeof instrumentsOf>>()
  const meterNow = () => metrics.getMeter(scope)
  const instruments = () => {
    const meter = meterNow()
    const known = made.get(meter) ?? instrumentsOf(meter)
    made.set(meter, known)
    return known
  }
  return {
    /** Returns whether a metrics SDK is set up. */
    isOn: () => meterNow() !== off,
    tokens(usage: Usage, attributes: Attributes) {
      const { tokens } = instruments()
      tokens.record(inputOf(usage), { ...attributes, [names.tokenType]: 'input' })
      tokens.record(usage.output, { ...attributes, [names.tokenType]: 'output' })
    },
    duration: (seconds: number, attributes: Attributes) => instruments().duration.record(seconds, attributes),
    firstChunk: (seconds: number, attributes: Attributes) => instruments().firstChunk.record(seconds, attributes),
  }
}

const instrumentsOf = (meter: Meter) => {
  const histogram = (name: string, description: string, unit: string, bounds: number[]) =>
    meter.createHistogram(name, { description, unit, advice: { explicitBucketBoundaries: bounds } })
  return {
    tokens: histogram('gen_ai.client.token.usage', 'Number of input and output tokens used', '{token}', tokenBounds),
    duration: histogram('gen_ai.client.operation.duration', 'Duration of a model call', 's', secondBounds),
    firstChunk: histogram(
      'gen_ai.client.operation.time_to_first_chunk',
      'Time from the start of a model call to the first word of its answer',
      's',
      secondBounds,
    ),
  }
}
