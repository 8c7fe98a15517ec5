import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ModelList } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'
import { presets } from '../../packages/holdfast/src/providers/services/presets.ts'
import { replyJson, startLocalServer } from '../../packages/holdfast/src/providers/testing/local-server.ts'

let cli: Cli
beforeEach(() => {
  cli = createCli()
})
afterEach(() => cli[Symbol.dispose]())

const noKeys = Object.fromEntries(presets.flatMap(({ keyNames }) => keyNames.map((name) => [name, ''])))
const models = (args: readonly string[], environment: Record<string, string> = {}) =>
  cli.run(['models', ...args], { environment: { ...noKeys, ...environment } })
function configure(config: object): void {
  mkdirSync(join(cli.home, 'config'), { recursive: true })
  writeFileSync(join(cli.home, 'config', 'config.json'), JSON.stringify(config))
}

describe('models', () => {
  it('lists usable models without a server or a store, marks the default and creates nothing', async () => {
    const { code, stdout, stderr } = await models([], { GROQ_API_KEY: 'a-key-of-groq-1' })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^MODEL +CONTEXT +ANSWER +IN +OUT +CACHED +THINKING$/m)
    expect(stdout).toMatch(
      /^groq\/openai\/gpt-oss-120b \* +131,072 +65,536 +\$0\.15 +\$0\.6 +\$0\.075 +low medium high$/m,
    )
    expect(stdout).toMatch(/^demo\/agent /m)
    expect(stdout).not.toContain('anthropic/')
    expect(stderr).toContain('as of')
    expect(existsSync(cli.home)).toBe(false)
  })

  it('lists the others with --all, with the reason they cannot be used', async () => {
    const { stdout } = await models(['--all'])
    expect(stdout).toMatch(
      /^There is no key for Anthropic\. Set ANTHROPIC_API_KEY or run holdfast auth login anthropic/m,
    )
    expect(stdout).toMatch(/^anthropic\/claude-opus-5-5 +1,000,000 /m)
  })

  it('prints unknown facts as unknown, and as null in JSON', async () => {
    configure({ model: 'mybox/mystery', providers: { mybox: { baseUrl: 'https://box.example' } } })
    expect((await models([])).stdout).toMatch(/^mybox\/mystery \*( +unknown){6}$/m)
    const listed = JSON.parse((await models(['--json'])).stdout)
    expect(ModelList.safeParse(listed).error).toBeUndefined()
    expect(listed.models).toContainEqual(
      expect.objectContaining({ model: 'mybox/mystery', price: null, contextTokens: null, isDefault: true }),
    )
  })

  it('finds Ollama on this machine', async () => {
    await using server = await startLocalServer(({ path }, reply) =>
      replyJson(reply, path === '/api/tags' ? { models: [{ name: 'small:1b' }] } : {}),
    )
    const environment = { OLLAMA_HOST: `127.0.0.1:${server.port}`, HOLDFAST_LOCAL_MODELS: 'on' }
    // On a busy machine one discovery may time out.
    await vi.waitFor(
      async () => expect((await models([], environment)).stdout).toMatch(/^ollama\/small:1b \* /m),
      60_000,
    )
  })

  it('loads a newer list from a file, and keeps it if the next one is malformed', async () => {
    const good = {
      asOf: '2026-12-01',
      models: { 'anthropic/next': { contextTokens: 4321, price: { input: 1, output: 2 } } },
    }
    writeFileSync(join(cli.workdir, 'good.json'), JSON.stringify(good))
    expect(await models(['refresh', 'good.json'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Loaded 1 models as of 2026-12-01.'),
    })
    const kept = join(cli.home, 'data', 'models.json')
    const before = readFileSync(kept, 'utf8')
    writeFileSync(
      join(cli.workdir, 'bad.json'),
      JSON.stringify({ ...good, models: { 'anthropic/next': { price: 3 } } }),
    )
    expect(await models(['refresh', 'bad.json', '--json'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('anthropic/next › price'),
    })
    expect(readFileSync(kept, 'utf8')).toBe(before)
    expect((await models(['--all'])).stdout).toMatch(/^anthropic\/next +4,321 +unknown +\$1 +\$2 +\$1 +unknown$/m)
  })

  it('makes a running server use the newer list', async () => {
    const good = { asOf: '2026-12-01', models: { 'anthropic/next': { contextTokens: 4321 } } }
    writeFileSync(join(cli.workdir, 'good.json'), JSON.stringify(good))
    const server = cli.start(['serve', '--port', '0'], { environment: noKeys })
    try {
      await server.until('stdout', /login\?code=/)
      const { url, tokenFile } = JSON.parse(readFileSync(join(cli.home, 'state', 'server.json'), 'utf8'))
      expect(await models(['refresh', 'good.json'])).toMatchObject({
        code: 0,
        stderr: expect.stringContaining(`The server at ${url} uses the change now.`),
      })
      const token = readFileSync(tokenFile, 'utf8').trim()
      const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${token}` } })
      const listed = ModelList.parse(await answer.json())
      expect(listed.models).toContainEqual(expect.objectContaining({ model: 'anthropic/next', contextTokens: 4321 }))
    } finally {
      server.kill('SIGTERM')
      await server.ended
    }
  })

  it('rejects an invalid configuration with its path', async () => {
    configure({ rotatoin: [] })
    const { code, stdout } = await models(['--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'bad_config', details: { path: join(cli.home, 'config', 'config.json'), key: 'rotatoin' } },
    })
    expect((await cli.run(['run', 'list'])).stderr).toContain("Did you mean 'rotation'?")
    expect(existsSync(join(cli.home, 'data'))).toBe(false)
  })

  it.each([
    [['refrsh'], "models has no action 'refrsh'. Did you mean 'refresh'?"],
    [['refresh'], 'models refresh needs a file: holdfast models refresh <file>.'],
    [['refresh', 'a', '--all'], '--all works with the list of models only.'],
  ])('rejects %j as wrong usage', async (args, message) => {
    expect(await models(args)).toMatchObject({ code: 2, stdout: '', stderr: `${message}\n` })
  })
})
