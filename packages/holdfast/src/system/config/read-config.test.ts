import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Config } from './config.ts'
import { type ConfigOptions, configPath, layerConfig, readConfig } from './read-config.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hf-config-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const path = () => configPath(folder)
async function read(said: unknown) {
  await writeFile(path(), typeof said === 'string' ? said : JSON.stringify(said))
  return readConfig(path())
}

describe('the config file', () => {
  it('may be missing', async () => {
    expect(await readConfig(path())).toEqual({ ok: true, value: {} })
    expect(await readConfig(join(folder, 'none', 'config.json'))).toEqual({ ok: true, value: {} })
  })

  it('accepts every setting', async () => {
    const config = {
      $schema: './config.schema.json',
      model: 'anthropic/claude-opus-5-5',
      titleModel: 'groq/small',
      compactionModel: 'groq/small',
      rotation: ['a/b', { model: 'c/d', thinkingLevel: 'high' }],
      fallbacks: ['a/b'],
      localModels: false,
      providers: {
        mybox: { title: 'Box', baseUrl: 'http://box:1', api: 'responses', keyName: 'BOX_KEY', headers: { 'x-a': 'b' } },
      },
      models: {
        'mybox/one': { title: 'One', contextTokens: 9, price: { input: 1, output: 2 }, thinkingLevels: ['off'] },
      },
    }
    expect(await read(config)).toEqual({ ok: true, value: config })
    expect(await read(`\ufeff${JSON.stringify(config)}`)).toEqual({ ok: true, value: config })
  })

  it.each([
    [{ modle: 'a/b' }, 'modle', "Did you mean 'model'?"],
    [{ colour: 'red' }, 'colour', 'There are: $schema, model,'],
    [{ model: 'claude' }, 'model', 'a model is named provider/model'],
    [{ model: 7 }, 'model', 'expected string'],
    [{ model: 'a/b\u202e' }, 'model', 'no hidden characters'],
    [{ models: { 'a/b': { contextTokens: 1e12 } } }, 'models.a/b.contextTokens', '<='],
    [{ localModels: 'no' }, 'localModels', 'expected boolean'],
    [{ rotation: ['a/b', 'c'] }, 'rotation.1', 'a model is named provider/model'],
    [{ rotation: [{ model: 'a/b', thinkingLevel: 'hihg' }] }, 'rotation.0.thinkingLevel', "Did you mean 'high'?"],
    [
      { rotation: [{ model: 'a/b', thinkingLevl: 'high' }] },
      'rotation.0.thinkingLevl',
      "Did you mean 'thinkingLevel'?",
    ],
    [{ providers: { mybox: { baseURL: 'http://a' } } }, 'providers.mybox.baseURL', "Did you mean 'baseUrl'?"],
    [{ providers: { mybox: { baseUrl: 'ftp://a' } } }, 'providers.mybox.baseUrl', 'http:// or https://'],
    [{ providers: { mybox: { api: 'chatt' } } }, 'providers.mybox.api', "Did you mean 'chat'?"],
    [{ providers: { mybox: { keyName: 'not a name' } } }, 'providers.mybox.keyName', 'the name of a variable'],
    [{ providers: { 'My Box': {} } }, 'providers.My Box', 'a provider name has lower-case letters'],
    [{ providers: { mybox: { headers: { 'x-a': 'b\r\nx-c: d' } } } }, 'providers.mybox.headers.x-a', 'one line'],
    [{ models: { 'a/b': { contextTokns: 5 } } }, 'models.a/b.contextTokns', "Did you mean 'contextTokens'?"],
    [{ models: { 'a/b': { price: { input: -1, output: 1 } } } }, 'models.a/b.price.input', '>=0'],
    [{ models: { 'a/b': { price: { in: 1 } } } }, 'models.a/b.price', ''],
    [[], '', 'expected object'],
  ])('refuses %j with the key and a suggestion', async (said, key, meant) => {
    const refused = await read(said)
    const message = refused.ok ? expect.fail('it was taken') : refused.fault.message
    expect(refused).toMatchObject({ fault: { code: 'bad_config', details: { path: path() } } })
    expect(message.startsWith(`${path()}: ${key}`), message).toBe(true)
    expect(message).toContain(meant)
  })

  it('refuses keys without quoting them', async () => {
    const refused = await read({ providers: { mybox: { baseUrl: 'http://a', apiKey: 'sk-very-secret' } } })
    const message = refused.ok ? expect.fail('it was taken') : refused.fault.message
    expect(message).toContain('holdfast auth login mybox')
    expect(JSON.stringify(refused)).not.toContain('sk-very-secret')
  })

  it('is refused with the position if it is not JSON', async () => {
    expect(await read('{\n  "model": "a/b" "rotation": []\n}')).toMatchObject({
      fault: { code: 'bad_config', message: expect.stringMatching(/not JSON, from line 2 column \d+ on/) },
    })
    expect(await read('')).toMatchObject({ fault: { code: 'bad_config' } })
  })

  it('never runs anything in it or beside it', async () => {
    const mark = join(folder, 'ran')
    const code = `import('node:fs').then((fs) => fs.writeFileSync(${JSON.stringify(mark)}, ''))`
    for (const name of ['config.js', 'config.mjs', 'config.ts']) await writeFile(join(folder, name), code)
    for (const said of [
      code,
      `(${code})`,
      { providers: { mybox: { baseUrl: 'http://a', title: `$(touch ${mark})` } } },
    ])
      await read(said)
    await expect(mkdir(mark)).resolves.toBeUndefined() // it was not there
  })

  it('is refused without blocking if it is a pipe', async () => {
    execFileSync('mkfifo', [path()])
    expect(await readConfig(path())).toMatchObject({ fault: { code: 'bad_config' } })
  })

  it('is refused if it is a directory or far too long', async () => {
    expect(await readConfig(folder)).toMatchObject({ fault: { code: 'bad_config' } })
    expect(await read(' '.repeat(2 * 1024 * 1024))).toMatchObject({ fault: { code: 'bad_config' } })
  })
})

const layer = (config: Config, environment: { [name: string]: string } = {}, options: ConfigOptions = {}) =>
  layerConfig({ file: { path: 'config.json', config }, environment, options })
const configured = (...layers: Parameters<typeof layer>) => {
  const layered = layer(...layers)
  return layered.ok ? layered.value : expect.fail(layered.fault.message)
}

describe('layered settings', () => {
  it('prefer options over variables, and variables over the file', () => {
    const file = { model: 'a/file', titleModel: 'a/file', compactionModel: 'a/file' }
    const environment = { HOLDFAST_MODEL: 'a/variable', HOLDFAST_TITLE_MODEL: 'a/variable' }
    expect(configured(file, environment, { model: 'a/option' })).toMatchObject({
      model: 'a/option',
      titleModel: 'a/variable',
      compactionModel: 'a/file',
      from: { model: 'The option model', titleModel: 'HOLDFAST_TITLE_MODEL', compactionModel: 'config.json' },
    })
  })

  it('have no model by default, and ignore empty variables', () => {
    const empty = { HOLDFAST_MODEL: ' ', HOLDFAST_ROTATION: '', HOLDFAST_LOCAL_MODELS: '' }
    expect(configured({}, empty, { model: undefined })).toEqual({
      rotation: [],
      fallbacks: [],
      localModels: true,
      fetchHosts: [],
      hooks: {},
      shellEnvironment: [],
      sandbox: 'auto',
      sandboxNetwork: false,
      caps: [],
      providers: {},
      models: {},
      from: {},
    })
  })

  it('read lists from variables', () => {
    const environment = {
      HOLDFAST_ROTATION: 'a/b, ollama/c:7b=high ,',
      HOLDFAST_FALLBACKS: 'a/b,c/d',
      HOLDFAST_LOCAL_MODELS: 'off',
    }
    expect(configured({ rotation: ['x/y'], localModels: true }, environment)).toMatchObject({
      rotation: [{ model: 'a/b' }, { model: 'ollama/c:7b', thinkingLevel: 'high' }],
      fallbacks: ['a/b', 'c/d'],
      localModels: false,
    })
  })

  it.each(['on', 'True', 'YES', '1', 'off', 'False', 'no', '0'])('parse %s from a variable', (said) => {
    const isOn = ['on', 'true', 'yes', '1'].includes(said.toLowerCase())
    expect(configured({ localModels: !isOn }, { HOLDFAST_LOCAL_MODELS: ` ${said} ` }).localModels).toBe(isOn)
  })

  it('describe the allowed values of a variable', () => {
    expect(layer({}, { HOLDFAST_LOCAL_MODELS: 'maybe' })).toMatchObject({
      fault: { message: 'HOLDFAST_LOCAL_MODELS: localModels: it is on or off.' },
    })
  })

  it('accept rotation entries with and without a thinking level', () => {
    const rotation = ['a/b', { model: 'c/d', thinkingLevel: 'low' as const }]
    expect(configured({}, {}, { rotation }).rotation).toEqual([
      { model: 'a/b' },
      { model: 'c/d', thinkingLevel: 'low' },
    ])
  })

  it.each([
    [{ HOLDFAST_MODEL: 'claude' }, {}, 'HOLDFAST_MODEL', 'model'],
    [{ HOLDFAST_LOCAL_MODELS: 'perhaps' }, {}, 'HOLDFAST_LOCAL_MODELS', 'localModels'],
    [{ HOLDFAST_ROTATION: 'a/b=hgih' }, {}, 'HOLDFAST_ROTATION', 'rotation.0.thinkingLevel'],
    [{}, { fallbacks: ['a/b', 'c'] }, 'The option fallbacks', 'fallbacks.1'],
  ])('name the source of an invalid value: %j %j', (environment, options, path, key) => {
    expect(layer({}, environment, options)).toMatchObject({
      ok: false,
      fault: { code: 'bad_config', details: { path, key } },
    })
  })
})
