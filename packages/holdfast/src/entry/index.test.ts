import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  type ContextUsage,
  type CycledModel,
  type CycleOptions,
  type ListedModel,
  type ModelList,
  type ModelName,
  openHoldfast,
  type ProviderInUse,
  type RotationEntry,
  type ThinkingLevel,
  type Usage,
  type UsageOptions,
} from './index.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hf-index-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

// That each name is there is a matter of the type checker: the test would not compile.
it('exports the types of the methods for models and usage', async () => {
  const demo: ModelName = 'demo/agent'
  const thinkingLevel: ThinkingLevel = 'low'
  const rotation: readonly RotationEntry[] = [{ model: demo }, { model: 'groq/any', thinkingLevel }]
  const environment = { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off', GROQ_API_KEY: 'key' }
  const holdfast = await openHoldfast({ store: 'memory:', environment, model: demo, rotation })
  const session = await holdfast.startSession()

  const list: ModelList = await holdfast.models()
  const usable: readonly ListedModel[] = await session.getAvailableModels()
  const inUse: ProviderInUse = await session.getProvider()
  const context: ContextUsage = await session.contextUsage()
  const whole: UsageOptions = { tree: true }
  const usage: Usage = await session.usage(whole)
  const back: CycleOptions = { direction: 'previous' }
  const cycled: CycledModel = await session.cycleModel(back)

  expect(list.models).toEqual(expect.arrayContaining([...usable]))
  expect(inUse).toMatchObject({ model: demo })
  expect(context.share).toEqual(expect.any(Number))
  expect([usage.input, usage.output]).toEqual([0, 0])
  expect(cycled).toMatchObject({ model: 'groq/any', thinkingLevel, total: 2 })
  await holdfast.close()
})
