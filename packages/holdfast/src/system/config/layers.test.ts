import { describe, expect, it } from 'vitest'
import type { Config } from './config.ts'
import { type ConfigOptions, layerConfig } from './layers.ts'

const layer = (config: Config, environment: { [name: string]: string } = {}, options: ConfigOptions = {}) =>
  layerConfig({ file: { path: 'config.json', config }, environment, options })
const saidBy = (...layers: Parameters<typeof layer>) => {
  const layered = layer(...layers)
  return layered.ok ? layered.value : expect.fail(layered.fault.message)
}

describe('what is configured', () => {
  it('is said by the file, over it by the environment, over both by the program', () => {
    const file = { model: 'a/file', titleModel: 'a/file', compactionModel: 'a/file' }
    const environment = { HOLDFAST_MODEL: 'a/variable', HOLDFAST_TITLE_MODEL: 'a/variable' }
    expect(saidBy(file, environment, { model: 'a/option' })).toMatchObject({
      model: 'a/option',
      titleModel: 'a/variable',
      compactionModel: 'a/file',
      from: { model: 'The option model', titleModel: 'HOLDFAST_TITLE_MODEL', compactionModel: 'config.json' },
    })
  })

  it('is nothing where nobody says anything, and a variable set to nothing says nothing', () => {
    const empty = { HOLDFAST_MODEL: ' ', HOLDFAST_ROTATION: '', HOLDFAST_LOCAL_MODELS: '' }
    expect(saidBy({}, empty, { model: undefined })).toEqual({
      rotation: [],
      fallbacks: [],
      localModels: true,
      providers: {},
      models: {},
      from: {},
    })
  })

  it('takes lists from variables', () => {
    const environment = {
      HOLDFAST_ROTATION: 'a/b, ollama/c:7b=high ,',
      HOLDFAST_FALLBACKS: 'a/b,c/d',
      HOLDFAST_LOCAL_MODELS: 'off',
    }
    expect(saidBy({ rotation: ['x/y'], localModels: true }, environment)).toMatchObject({
      rotation: [{ model: 'a/b' }, { model: 'ollama/c:7b', thinkingLevel: 'high' }],
      fallbacks: ['a/b', 'c/d'],
      localModels: false,
    })
  })

  it.each(['on', 'True', 'YES', '1', 'off', 'False', 'no', '0'])('takes %s as a variable says it', (said) => {
    const isOn = ['on', 'true', 'yes', '1'].includes(said.toLowerCase())
    expect(saidBy({ localModels: !isOn }, { HOLDFAST_LOCAL_MODELS: ` ${said} ` }).localModels).toBe(isOn)
  })

  it('says in the words of a variable what one can say', () => {
    expect(layer({}, { HOLDFAST_LOCAL_MODELS: 'maybe' })).toMatchObject({
      fault: { message: 'HOLDFAST_LOCAL_MODELS: localModels: it is on or off.' },
    })
  })

  it('takes a stop of the rotation with and without its thinking level', () => {
    const rotation = ['a/b', { model: 'c/d', thinkingLevel: 'low' as const }]
    expect(saidBy({}, {}, { rotation }).rotation).toEqual([{ model: 'a/b' }, { model: 'c/d', thinkingLevel: 'low' }])
  })

  it.each([
    [{ HOLDFAST_MODEL: 'claude' }, {}, 'HOLDFAST_MODEL', 'model'],
    [{ HOLDFAST_LOCAL_MODELS: 'perhaps' }, {}, 'HOLDFAST_LOCAL_MODELS', 'localModels'],
    [{ HOLDFAST_ROTATION: 'a/b=hgih' }, {}, 'HOLDFAST_ROTATION', 'rotation.0.thinkingLevel'],
    [{}, { fallbacks: ['a/b', 'c'] }, 'The option fallbacks', 'fallbacks.1'],
  ])('is refused by who said it: %j %j', (environment, options, path, key) => {
    expect(layer({}, environment, options)).toMatchObject({
      ok: false,
      fault: { code: 'bad_config', details: { path, key } },
    })
  })
})
