import { setTimeout as delay } from 'node:timers/promises'
import type { ModelReadiness } from '@holdfast/core/ports'
import type { GivenFacts, ModelName } from '@holdfast/protocol'
import type { Environment } from '../system/environment.ts'
import { createDemoProvider } from './demo/provider.ts'

export const demoModel: ModelName = 'demo/agent'

export const demoFacts: GivenFacts = {
  title: 'Demo, built in',
  price: { input: 0, output: 0 },
  thinkingLevels: ['off', 'low', 'medium', 'high'],
  tools: true,
}

export const findDemo = (environment: Environment): ModelReadiness => ({
  type: 'ready',
  provider: createDemoProvider(demoOptions(environment)),
})

function demoOptions(environment: Environment) {
  const asked = Number(environment['DEMO_PACE']?.trim() || '1')
  return {
    pace: Number.isFinite(asked) && asked >= 0 ? asked : 1,
    sleep: async (delayMs: number, options: { readonly signal: AbortSignal }) => {
      await delay(delayMs, undefined, options)
    },
  }
}
